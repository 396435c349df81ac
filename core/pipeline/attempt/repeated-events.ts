import { asBuffer } from '../../contract/values/text/utf8.ts';

/** Number of events in a row without a repeat after which the search for repeats ends. */
const missesMax = 8;

/** Longer frames are not stored: parts of one with many unused members take nine times its memory, and nothing counts it. */
const frameCharsMax = 64 * 1024;

/**
 * Recognises events of a stream that equal the last one read, except for values that the reader does not use, such as the text of
 * a delta. Nearly all events of a reply are repeats. Comparing them costs a tenth of parsing them.
 */
export class RepeatedEvents {
  /** Matches an unused member up to its value, which is a string or a number. */
  readonly #member: RegExp;
  /** The last event read, cut at its unused values. Null before the first one. One code unit per byte. */
  #literals: string[] | null = null;
  /** True if the parts of `#literals` have the same form as bytes and as decoded text. */
  #isAscii = false;
  #misses = 0;

  /** `unused`: names of the unused members. */
  constructor(unused: readonly string[]) {
    this.#member = memberPattern(unused);
  }

  /** Stores the frame of an event that was read as the pattern for repeats. It must hold exactly one event. */
  learn(frame: string): void {
    this.#literals = null;
    if (this.#misses++ >= missesMax || frame.length > frameCharsMax) return;
    const bytes = Buffer.from(frame).toString('latin1');
    const literals: string[] = [];
    const member = this.#member;
    let from = 0;
    member.lastIndex = 0;
    for (let found = member.exec(bytes); found !== null; found = member.exec(bytes)) {
      const begin = member.lastIndex;
      const end = valueEnd(bytes, begin);
      if (end === -1) return;
      literals.push(bytes.slice(from, begin));
      from = end;
      member.lastIndex = end;
    }
    literals.push(bytes.slice(from));
    this.#literals = literals;
    this.#isAscii = literals.every((literal) => !/[\x80-\xff]/.test(literal));
  }

  /** Discards the last event, because other data was read after it. */
  forget(): void {
    this.#literals = null;
  }

  /** Returns the number of bytes at the beginning of the chunk that are whole repeats. Calls `onRepeat` for each. */
  skip(chunk: Uint8Array, onRepeat: () => void): number {
    if (this.#literals === null) return 0;
    const text = asBuffer(chunk).toString('latin1');
    let at = 0;
    for (let end = this.#match(text, 0); end !== -1; end = this.#match(text, at)) {
      at = end;
      this.#misses = 0;
      onRepeat();
      if (at === text.length) break;
    }
    return at;
  }

  /** True if the frame, in decoded text, is a repeat. Other characters than ASCII are compared by `skip` alone, which reads bytes. */
  matches(frame: string): boolean {
    if (this.#literals === null || !this.#isAscii || this.#match(frame, 0) !== frame.length) return false;
    this.#misses = 0;
    return true;
  }

  /** Returns the index after a repeat that begins at `from`, or -1. */
  #match(text: string, from: number): number {
    const literals = this.#literals as string[];
    const last = literals.length - 1;
    let at = from;
    for (let i = 0; i < last; i++) {
      const literal = literals[i] as string;
      if (!text.startsWith(literal, at)) return -1;
      at = valueEnd(text, at + literal.length);
      if (at === -1) return -1;
    }
    const literal = literals[last] as string;
    return text.startsWith(literal, at) ? at + literal.length : -1;
  }
}

const patterns = new WeakMap<readonly string[], RegExp>();

function memberPattern(unused: readonly string[]): RegExp {
  let pattern = patterns.get(unused);
  if (!pattern) {
    pattern = new RegExp(`"(?:${unused.join('|')})"\\s*:\\s*(?:"|(?=\\d))`, 'g');
    patterns.set(unused, pattern);
  }
  return pattern;
}

/**
 * Returns the index of the quote that ends the string at `from`, or the index after the digits there. -1 if the value does not
 * end in its line.
 */
function valueEnd(text: string, from: number): number {
  if (text.charCodeAt(from - 1) !== quote) {
    let end = from;
    while (isDigit(text.charCodeAt(end))) end++;
    return end > from ? end : -1;
  }
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === backslash) before--;
    if ((end - before) % 2 === 1) continue;
    // A search in all of the text would take quadratic time in a long line of many values.
    const value = text.slice(from, end);
    return value.includes('\n') || value.includes('\r') ? -1 : end;
  }
  return -1;
}

const quote = 0x22;
const backslash = 0x5c;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
