import type { CompiledMessages, ComputedObject, MessageNode, Segment } from './template.ts';

/**
 * Compiles the segments of a JSON document to its messages, so that rendering needs neither escaping nor JSON.parse. Returns null if the
 * document is no list, has tags outside of strings or in keys, or has numbers, which JSON.stringify may write differently.
 */
export function compileMessages(segments: readonly Segment[]): CompiledMessages | null {
  try {
    const compiler = new Compiler(segments);
    const document: unknown = JSON.parse(compiler.skeleton);
    if (!Array.isArray(document)) return null;
    const items = document.map((value) => compiler.node(value));
    return compiler.isComplete ? { items, length: compiler.skeleton.length } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Stands before and after the number of a tag: a character for private use. */
const mark = '\ue000';
const markOrItsEscape = /\ue000|\\ue000/i;

class Compiler {
  /** The document with a placeholder for each tag. */
  readonly skeleton: string;
  readonly #tags: readonly Exclude<Segment, string>[];
  #placed = 0;

  constructor(segments: readonly Segment[]) {
    const tags: Exclude<Segment, string>[] = [];
    const parts = segments.map((segment) => {
      if (typeof segment !== 'string') return `${mark}${tags.push(segment) - 1}${mark}`;
      if (markOrItsEscape.test(segment)) throw new SyntaxError('the document has the character of placeholders');
      return segment;
    });
    this.#tags = tags;
    this.skeleton = parts.join('');
  }

  /** True if each tag was found in a string. */
  get isComplete(): boolean {
    return this.#placed === this.#tags.length;
  }

  node(value: unknown): MessageNode {
    if (typeof value === 'string') return value.includes(mark) ? { type: 'text', segments: this.#segments(value) } : value;
    if (typeof value === 'boolean' || value === null) return value;
    if (Array.isArray(value)) return { type: 'list', items: value.map((item) => this.node(item)) };
    if (typeof value === 'object') return this.#object(value);
    throw new SyntaxError('the document has a number');
  }

  #object(value: object): ComputedObject {
    const entries = Object.entries(value).map(([key, member]) => [key, this.node(member)] as const);
    if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('the document has the key __proto__');
    return {
      type: 'object',
      shape: Object.fromEntries(entries.map(([key, node]) => [key, isComputed(node) ? null : node])),
      computed: entries.flatMap(([key, node]) => (isComputed(node) ? [[key, node] as const] : [])),
    };
  }

  /** Every second part is the number of a tag. */
  #segments(text: string): readonly Segment[] {
    return text.split(mark).flatMap((part, i) => {
      if (i % 2 === 0) return part === '' ? [] : [part];
      this.#placed += 1;
      return [asText(this.#tags[Number(part)] as Exclude<Segment, string>)];
    });
  }
}

function isComputed(node: MessageNode): node is Exclude<MessageNode, string | boolean | null> {
  return typeof node === 'object' && node !== null;
}

/** Returns a tag inside of a JSON string as a tag of its text. Throws SyntaxError if the string ends inside of a section. */
function asText(tag: Exclude<Segment, string>): Segment {
  if (tag.type !== 'section') return { ...tag, context: 'text' };
  const body = tag.body.map((segment) =>
    typeof segment === 'string' ? (JSON.parse(`"${segment}"`) as string) : asText(segment),
  );
  return { ...tag, body };
}
