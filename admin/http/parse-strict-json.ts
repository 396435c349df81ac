import { invalid } from './errors.ts';

/** Limits of the JSON that the admin API reads. */
export const jsonLimits = { depth: 64, keys: 50_000 } as const;

/**
 * Parses JSON (RFC 8259) to plain values, stricter than `JSON.parse`: a repeated key, `__proto__`, `constructor` and
 * `prototype` as keys, U+0000 and unpaired surrogates (which the database cannot hold), and anything past `jsonLimits` are
 * refused. Throws AB01 with `root` and the position (in characters, from 0) and never with the text around it, which may be a secret.
 */
export function parseStrictJson(text: string, root = 'body'): unknown {
  const reader = new Reader(text, root);
  reader.skipSpace();
  const value = reader.value(0);
  reader.skipSpace();
  if (reader.at < text.length) reader.fail('more text after the end of the JSON');
  return value;
}

const space = /[ \t\n\r]*/y;
const numeral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Written as runs between escapes so that a long string is matched without a step per character.
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const word = /true|false|null/y;
const unstorable = /\u0000|\p{Surrogate}/u;
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);
const words: Record<string, boolean | null> = { true: true, false: false, null: null };

class Reader {
  at = 0;
  #keys = 0;
  readonly #text: string;
  readonly #root: string;

  constructor(text: string, root: string) {
    this.#text = text;
    this.#root = root;
  }

  value(depth: number): unknown {
    if (depth > jsonLimits.depth) this.fail(`nested deeper than ${jsonLimits.depth}`);
    const first = this.#text[this.at];
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') return this.#string();
    const number = this.#take(numeral);
    if (number !== null) return this.#number(number);
    const known = this.#take(word);
    if (known !== null) return words[known];
    return this.fail(first === undefined ? 'the text ends too early' : 'expected a value');
  }

  skipSpace(): void {
    this.#take(space);
  }

  fail(what: string): never {
    throw invalid(`${this.#root}: invalid JSON at position ${this.at}: ${what}`);
  }

  #object(depth: number): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    this.at++;
    this.skipSpace();
    if (this.#accept('}')) return out;
    for (;;) {
      const keyAt = this.at;
      if (this.#text[this.at] !== '"') this.fail('expected a key in double quotes');
      const key = this.#string();
      if (refusedKeys.has(key) || Object.hasOwn(out, key)) {
        this.at = keyAt;
        this.fail(refusedKeys.has(key) ? 'this key is not allowed' : 'duplicate key');
      }
      if (++this.#keys > jsonLimits.keys) this.fail(`more than ${jsonLimits.keys} keys`);
      this.skipSpace();
      if (!this.#accept(':')) this.fail('expected a colon');
      this.skipSpace();
      out[key] = this.value(depth + 1);
      this.skipSpace();
      if (this.#accept('}')) return out;
      if (!this.#accept(',')) this.fail('expected a comma or a closing brace');
      this.skipSpace();
    }
  }

  #array(depth: number): unknown[] {
    const out: unknown[] = [];
    this.at++;
    this.skipSpace();
    if (this.#accept(']')) return out;
    for (;;) {
      if (++this.#keys > jsonLimits.keys) this.fail(`more than ${jsonLimits.keys} values`);
      out.push(this.value(depth + 1));
      this.skipSpace();
      if (this.#accept(']')) return out;
      if (!this.#accept(',')) this.fail('expected a comma or a closing bracket');
      this.skipSpace();
    }
  }

  #string(): string {
    const token = this.#take(string);
    if (token === null) return this.fail('a string that is not closed, or holds a raw control character or a wrong escape');
    const value = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
    if (unstorable.test(value)) this.fail('a string holds U+0000 or half a surrogate pair');
    return value;
  }

  #number(token: string): number {
    const value = Number(token);
    if (!Number.isFinite(value)) this.fail('a number is too large');
    return value;
  }

  #accept(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (!match) return null;
    this.at = pattern.lastIndex;
    return match[0];
  }
}
