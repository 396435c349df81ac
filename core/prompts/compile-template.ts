import mustache, { type TemplateSpans } from 'mustache';
import { checkTags } from './check-tags.ts';
import { compileMessages } from './compile-messages.ts';
import { type Context, contextAfter, escapeForString } from './json-context.ts';
import type { PartialTag, SectionTag, Segment, Template } from './template.ts';
import { TemplateError } from './template-error.ts';

export interface TemplateOptions {
  /** True: the text becomes JSON only when it is rendered. False: a text that is a JSON list holds messages, any other is plain text. */
  readonly isRaw: boolean;
}

/** Maximum depth of sections inside sections. */
const sectionDepthMax = 50;

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

  /** Throws TemplateError. */
  constructor(text: string) {
    this.#text = text;
    this.segments('text', '');
  }

  /** Length of its text in characters. */
  get length(): number {
    return this.#text.length;
  }

  /** Returns its segments for a place, compiled once. Throws TemplateError if its text is not part of a JSON document but its place is. */
  segments(context: Context, indentation: string): readonly Segment[] {
    const key = `${context}${indentation}`;
    let segments = this.#compiled.get(key);
    if (segments === undefined) {
      segments = compileSegments(indent(this.#text, indentation), context === 'elements' ? 'structure' : context, true);
      if (this.#compiled.size >= placesMax) this.#compiled.clear();
      this.#compiled.set(key, segments);
    }
    return segments;
  }
}

/** Maximum number of places for which a partial stays compiled. */
const placesMax = 20;

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
  checkTags(text);
  const tokens = parse(text);
  const compiler = new Compiler(text, isPartial && context === 'string');
  const { segments, end } = compiler.segments(tokens, context, 0);
  if (end !== context) throw new TemplateError('the template ends inside a JSON string', text, text.length);
  return segments;
}

/** Sections have `nested` tokens. Partials have the white space before them there, their index in the line, and true if text precedes them. */
type Token = readonly [
  type: string,
  value: string,
  start: number,
  end: number,
  nested?: unknown,
  index?: number,
  follows?: boolean,
];

/** The parser of the package, without its cache, which is unbounded. */
const writer = Object.assign(new mustache.Writer(), { templateCache: undefined });

function parse(text: string): readonly Token[] {
  try {
    return writer.parse(text, ['{{', '}}']) as TemplateSpans as readonly Token[];
  } catch (error) {
    const [, reason, index] = /^(.*) at (\d+)$/s.exec(String((error as Error).message)) ?? [];
    throw new TemplateError(reason ?? 'invalid tag', text, Number(index ?? 0));
  }
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
  segments(tokens: readonly Token[], start: Context, depth: number): { segments: Segment[]; end: Context } {
    const segments: Segment[] = [];
    let context = start;
    tokens.forEach((token, i) => {
      const [type, value] = token;
      if (type === 'text') {
        segments.push(this.#escapes ? escapeForString(value) : value);
        context = this.#after(token, context);
      } else if (type === 'name' || type === '&') {
        segments.push({ type: 'value', path: pathOf(value), context: elementsOr(context, tokens[i - 1], tokens[i + 1]) });
      } else if (type === '#' || type === '^') {
        segments.push(this.#section(token, context, depth));
      } else if (type === '>') {
        segments.push(partialTag(token, context, context === 'text' || this.#escapes));
      }
    });
    return { segments, end: context };
  }

  #after([, value, , end]: Token, context: Context): Context {
    if (this.#escapes) return context;
    const after = contextAfter(value, context);
    if (after === null) throw new TemplateError('a tag follows a backslash in a JSON string', this.#text, end);
    return after;
  }

  #section([type, value, start, , nested]: Token, context: Context, depth: number): SectionTag {
    if (depth === sectionDepthMax)
      throw new TemplateError(`more than ${sectionDepthMax} sections inside each other`, this.#text, start);
    const { segments, end } = this.segments(nested as readonly Token[], context, depth + 1);
    if (end !== context) {
      const [from, to] = context === 'string' ? ['inside', 'outside'] : ['outside', 'inside'];
      throw new TemplateError(`the section "${value}" begins ${from} a JSON string and ends ${to} of one`, this.#text, start);
    }
    return { type: 'section', path: pathOf(value), isInverted: type === '^', body: segments };
  }
}

/** Returns the parts of `user.name`. `.` is the item of a section. A dot at the beginning is part of a name, as in Mustache. */
function pathOf(name: string): readonly string[] {
  return name.indexOf('.') > 0 ? name.split('.') : [name];
}

function elementsOr(context: Context, before: Token | undefined, after: Token | undefined): Context {
  if (context !== 'structure' || before?.[0] !== 'text' || after?.[0] !== 'text') return context;
  return before[1].trimEnd().endsWith('[') && after[1].trimStart().startsWith(']') ? 'elements' : context;
}

function partialTag([, value, , , indentation, index, follows]: Token, context: Context, hasLines: boolean): PartialTag {
  const isVariable = value.startsWith('>');
  // The package also indents a partial behind other text of its line. The specification of Mustache does not.
  const isIndented = hasLines && index === 0 && follows !== true && typeof indentation === 'string';
  return {
    type: 'partial',
    reference: isVariable ? value.slice(1).trim() : value,
    isVariable,
    context,
    indentation: isIndented ? indentation.replace(/[^ \t]/g, '') : '',
  };
}
