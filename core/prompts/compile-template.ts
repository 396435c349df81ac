import { compileMessages } from './compile-messages.ts';
import { type Context, contextAfter, escapeForString } from './json-context.ts';
import { charsMax, type PartialToken, parseTemplate, type TagToken, type Token } from './parse-template.ts';
import type { PartialTag, Segment, Template } from './template.ts';
import { TemplateError } from './template-error.ts';

export interface TemplateOptions {
  /** True: the text becomes JSON only when it is rendered. False: a text that is a JSON list holds messages, any other is plain text. */
  readonly isRaw: boolean;
}

/** Compiles the template of a prompt, with the grammar of Mustache and `{{>>name}}` for partials named by a variable. Throws TemplateError. */
export function compileTemplate(text: string, { isRaw }: TemplateOptions): Template {
  if (!isRaw && !isJsonList(text)) return { kind: 'text', segments: compileSegments(text, 'text'), messages: null };
  const segments = compileSegments(text, 'structure');
  return { kind: 'messages', segments, messages: compileMessages(segments) };
}

/** A compiled partial. The same text becomes different segments in each place that includes it. */
export class TemplatePartial {
  readonly #text: string;
  readonly #compiled = new Map<string, readonly Segment[]>();
  /** Number of lines that are not empty; null before it is needed. */
  #lines: number | null = null;

  /** Throws TemplateError. */
  constructor(text: string) {
    this.#text = text;
    this.segments('text', '');
  }

  /** Returns the length of its text in characters, with the indentation of its lines. */
  lengthIn(indentation: string): number {
    if (indentation === '') return this.#text.length;
    this.#lines ??= this.#text.split('\n').filter((line) => line !== '').length;
    return this.#text.length + this.#lines * indentation.length;
  }

  /** Returns its segments for a place, compiled once. Throws TemplateError if its text is not part of a JSON document but its place is. */
  segments(context: Context, indentation: string): readonly Segment[] {
    const key = `${context}${indentation}`;
    let segments = this.#compiled.get(key);
    if (segments === undefined) {
      // Before the text is written: an indentation of a long line times many lines would take all memory.
      if (this.lengthIn(indentation) > charsMax) {
        throw new TemplateError(`the text has more than ${charsMax} characters with its indentation`, this.#text, 0);
      }
      segments = compileSegments(indent(this.#text, indentation), context === 'elements' ? 'structure' : context, true);
      if (this.#compiled.size >= locationsMax) this.#compiled.clear();
      this.#compiled.set(key, segments);
    }
    return segments;
  }
}

/** Maximum number of locations for which a partial stays compiled. */
const locationsMax = 20;

function isJsonList(text: string): boolean {
  if (!/^\s*\[/.test(text)) return false;
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function indent(text: string, indentation: string): string {
  if (indentation === '') return text;
  const lines = text.split('\n').map((line) => (line === '' ? '' : indentation + line));
  return lines.join('\n');
}

/** Compiles a text whose beginning has the given context. `isPartial`: its literal text is not JSON yet if the context is `string`. */
function compileSegments(text: string, context: Context, isPartial = false): readonly Segment[] {
  const compiler = new Compiler(text, isPartial && context === 'string');
  const { segments, end } = compiler.segments(parseTemplate(text), context);
  if (end !== context) throw new TemplateError('the template ends inside a JSON string', text, text.length);
  return segments;
}

class Compiler {
  readonly #text: string;
  /** True if the literal text is escaped here, so that it does not change the context. */
  readonly #escapes: boolean;

  constructor(text: string, escapes: boolean) {
    this.#text = text;
    this.#escapes = escapes;
  }

  /** Compiles tokens and returns the context behind them. */
  segments(tokens: readonly Token[], start: Context): { segments: Segment[]; end: Context } {
    const segments: Segment[] = [];
    let context = start;
    tokens.forEach((token, i) => {
      const { type, value } = token;
      if (type === 'text') {
        segments.push(this.#escapes ? escapeForString(value) : value);
        context = this.#after(value, token.end, context);
      } else if (type === 'value') {
        segments.push({ type: 'value', path: pathOf(value), context: elementsOr(context, tokens[i - 1], tokens[i + 1]) });
      } else if (type === 'section' || type === 'inverted') {
        const isInverted = type === 'inverted';
        segments.push({ type: 'section', path: pathOf(value), isInverted, body: this.#body(token, context) });
      } else if (type === 'partial') {
        segments.push(partialTag(token, context, context === 'text' || this.#escapes));
      }
    });
    return { segments, end: context };
  }

  #after(value: string, end: number, context: Context): Context {
    if (this.#escapes) return context;
    const after = contextAfter(value, context);
    if (after === null) throw new TemplateError('a tag follows a backslash in a JSON string', this.#text, end);
    return after;
  }

  #body({ value, start, nested }: TagToken, context: Context): Segment[] {
    const { segments, end } = this.segments(nested, context);
    if (end !== context) {
      const [from, to] = context === 'string' ? ['inside', 'outside'] : ['outside', 'inside'];
      throw new TemplateError(`the section "${value}" begins ${from} a JSON string and ends ${to} of one`, this.#text, start);
    }
    return segments;
  }
}

/** Returns the parts of `user.name`. `.` is the item of a section. A dot at the beginning is part of a name, as in Mustache. */
function pathOf(name: string): readonly string[] {
  return name.indexOf('.') > 0 ? name.split('.') : [name];
}

function elementsOr(context: Context, before: Token | undefined, after: Token | undefined): Context {
  if (context !== 'structure' || before?.type !== 'text' || after?.type !== 'text') return context;
  return before.value.trimEnd().endsWith('[') && after.value.trimStart().startsWith(']') ? 'elements' : context;
}

function partialTag({ value, indentation }: PartialToken, context: Context, hasLines: boolean): PartialTag {
  const isVariable = value.startsWith('>');
  return {
    type: 'partial',
    reference: isVariable ? value.slice(1).trim() : value,
    isVariable,
    context,
    indentation: hasLines ? indentation.replace(/[^ \t]/g, '') : '',
  };
}
