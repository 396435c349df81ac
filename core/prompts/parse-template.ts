import { TemplateError } from './template-error.ts';

/** Maximum length of a template, and of a partial with its indentation. */
export const charsMax = 500_000;

/** Maximum depth of sections inside sections. */
const sectionDepthMax = 50;

interface TextToken {
  readonly type: 'text';
  value: string;
  /** Index behind its last character. */
  end: number;
}

export interface TagToken {
  readonly type: 'value' | 'section' | 'inverted' | 'comment' | 'delimiters';
  readonly value: string;
  /** Index of its first character. */
  readonly start: number;
  /** Content of a section; empty for other tags. */
  nested: Token[];
}

export interface PartialToken {
  readonly type: 'partial';
  readonly value: string;
  /** White space before it, if nothing else is before it in its line. */
  readonly indentation: string;
}

export type Token = TextToken | TagToken | PartialToken;

const types: Readonly<Record<string, TagToken['type']>> = {
  '#': 'section',
  '^': 'inverted',
  '&': 'value',
  '{': 'value',
  '!': 'comment',
  '=': 'delimiters',
};

/**
 * Parses a template by the grammar of Mustache, in linear time. The text between two tags is at most three tokens, and a line that has tags
 * but no value and no text leaves no white space. Throws TemplateError.
 */
export function parseTemplate(text: string): Token[] {
  if (text.length > charsMax) throw new TemplateError(`the template has more than ${charsMax} characters`, text, charsMax);
  return new Parser(text).tokens();
}

class Parser {
  readonly #text: string;
  readonly #root: Token[] = [];
  /** The sections around the next token, the innermost last. */
  readonly #sections: TagToken[] = [];
  /** The list that receives the next token. */
  #list = this.#root;
  #open = '{{';
  #close = '}}';
  /** Index of the first line feed at or behind the last place that was asked for; -1 before the first one. */
  #lineFeed = -1;
  /** White space of the current line that is left out if the line has nothing but tags. */
  #blanks: { readonly list: Token[]; readonly index: number }[] = [];
  #hasTag = false;
  #hasContent = false;
  /** White space at the beginning of the line; null behind a tag or other text. */
  #indentation: string | null = '';

  constructor(text: string) {
    this.#text = text;
  }

  tokens(): Token[] {
    const text = this.#text;
    let at = 0;
    for (let start = text.indexOf(this.#open); start !== -1; start = text.indexOf(this.#open, at)) {
      this.#between(at, start);
      at = this.#tag(start);
    }
    this.#between(at, text.length);
    this.#endLine();
    const unclosed = this.#sections.at(-1);
    if (unclosed) throw new TemplateError(`Unclosed section "${unclosed.value}"`, text, text.length);
    return joined(this.#root);
  }

  /** Adds the text between two tags: the rest of a line, whole lines, and the beginning of a line. */
  #between(start: number, end: number): void {
    const first = this.#lineFeedAfter(start) + 1;
    if (first > end) return this.#partOfLine(start, end);
    this.#partOfLine(start, first);
    this.#endLine();
    const last = this.#text.lastIndexOf('\n', end - 1) + 1;
    this.#addText(first, last);
    this.#partOfLine(last, end);
  }

  /** Searches each line once, however many tags it has. */
  #lineFeedAfter(start: number): number {
    if (this.#lineFeed < start) {
      const found = this.#text.indexOf('\n', start);
      this.#lineFeed = found === -1 ? this.#text.length : found;
    }
    return this.#lineFeed;
  }

  #partOfLine(start: number, end: number): void {
    if (start === end) return;
    const part = this.#text.slice(start, end);
    if (isBlank(part)) {
      this.#blanks.push({ list: this.#list, index: this.#list.length });
      if (this.#indentation !== null) this.#indentation += part;
    } else {
      this.#hasContent = true;
      this.#indentation = null;
    }
    this.#addText(start, end);
  }

  #addText(start: number, end: number): void {
    if (start !== end) this.#list.push({ type: 'text', value: this.#text.slice(start, end), end });
  }

  #endLine(): void {
    if (this.#hasTag && !this.#hasContent) {
      for (const { list, index } of this.#blanks) (list[index] as TextToken).value = '';
    }
    this.#blanks = [];
    this.#hasTag = false;
    this.#hasContent = false;
    this.#indentation = '';
  }

  /** Adds the tag at `start` and returns the index behind it. */
  #tag(start: number): number {
    const text = this.#text;
    const kindAt = skipWhiteSpace(text, start + this.#open.length);
    const kind = text[kindAt] ?? '';
    const hasKind = kind === '/' || kind === '>' || Object.hasOwn(types, kind);
    const valueAt = hasKind ? skipWhiteSpace(text, kindAt + 1) : kindAt;
    const ends = kind === '=' ? ['=', this.#close] : kind === '{' ? [`}${this.#close}`] : [this.#close];
    let at = valueAt;
    let valueEnd = -1;
    for (const end of ends) {
      const found = text.indexOf(end, at);
      if (found === -1) throw new TemplateError(`the tag is not closed by ${end}`, text, start);
      if (valueEnd === -1) valueEnd = found;
      at = found + end.length;
    }
    this.#add(kind, text.slice(valueAt, valueEnd).trimEnd(), start);
    return at;
  }

  #add(kind: string, value: string, start: number): void {
    this.#hasTag = true;
    const indentation = this.#indentation ?? '';
    this.#indentation = null;
    if (kind === '/') return this.#endSection(value, start);
    if (kind === '>') return void this.#list.push({ type: 'partial', value, indentation });
    const token: TagToken = { type: types[kind] ?? 'value', value, start, nested: [] };
    this.#list.push(token);
    if (token.type === 'value') this.#hasContent = true;
    if (token.type === 'delimiters') [this.#open, this.#close] = delimitersOf(value, this.#text, start);
    if (token.type !== 'section' && token.type !== 'inverted') return;
    if (this.#sections.push(token) > sectionDepthMax) {
      throw new TemplateError(`more than ${sectionDepthMax} sections inside each other`, this.#text, start);
    }
    this.#list = token.nested;
  }

  #endSection(value: string, start: number): void {
    const section = this.#sections.pop();
    if (!section) throw new TemplateError(`Unopened section "${value}"`, this.#text, start);
    if (section.value !== value) throw new TemplateError(`Unclosed section "${section.value}"`, this.#text, start);
    this.#list = this.#sections.at(-1)?.nested ?? this.#root;
  }
}

/** Returns the tokens without empty texts, and with neighbouring texts as one. */
function joined(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (const token of tokens) {
    const last = result.at(-1);
    if (token.type !== 'text') {
      if ('nested' in token) token.nested = joined(token.nested);
      result.push(token);
    } else if (token.value !== '' && last?.type === 'text') {
      last.value += token.value;
      last.end = token.end;
    } else if (token.value !== '') result.push(token);
  }
  return result;
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

const whiteSpace = /\s*/y;

function skipWhiteSpace(text: string, from: number): number {
  whiteSpace.lastIndex = from;
  whiteSpace.test(text);
  return whiteSpace.lastIndex;
}

/** Reads the value of a tag such as `{{=<% %>=}}`. */
function delimitersOf(value: string, text: string, start: number): [string, string] {
  const [open, close, ...others] = value.trim().split(/\s+/);
  if (!open || !close || others.length > 0) {
    throw new TemplateError('expected two delimiters, such as {{=<% %>=}}', text, start);
  }
  return [open, close];
}
