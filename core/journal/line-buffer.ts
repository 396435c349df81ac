const quote = 0x22;
const backslash = 0x5c;
const point = 0x2e;
const zero = 0x30;
const lineEnd = 0x0a;
const comma = 0x2c;
const nullBytes = Buffer.from('null');

/**
 * Lines of JSON as bytes. The parts of a line that repeat are added as bytes and its numbers digit by digit, because `JSON.stringify` of
 * the whole line takes longer (bench/results/calls.md, "Records are written from parts"). Call `reserve` before the methods that add.
 */
export class LineBuffer {
  readonly #initialBytes: number;
  #bytes: Buffer;
  #length = 0;

  constructor(initialBytes: number) {
    this.#initialBytes = initialBytes;
    this.#bytes = Buffer.allocUnsafeSlow(initialBytes);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes added so far. Valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room for `bytes` more. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  /** Removes everything, or what was added after the first `length` bytes. */
  clear(length = 0): void {
    this.#length = length;
    if (length === 0 && this.#bytes.length > this.#initialBytes) this.#bytes = Buffer.allocUnsafeSlow(this.#initialBytes);
  }

  /** Makes room for a line of text and adds it. */
  line(text: string): void {
    this.reserve(3 * text.length + 1);
    this.text(text);
    this.#bytes[this.#length++] = lineEnd;
  }

  /**
   * Begins an object or array at `start` whose members were added since then, each behind a comma: the opening bracket replaces the first
   * comma. Ends it.
   */
  enclose(start: number, open: '{' | '[', close: '}' | ']'): void {
    if (this.#length === start) this.#length++;
    this.#bytes[start] = open.charCodeAt(0);
    this.#bytes[this.#length++] = close.charCodeAt(0);
  }

  comma(): void {
    this.#bytes[this.#length++] = comma;
  }

  /** Adds bytes unchanged. */
  part(part: Uint8Array): void {
    this.#bytes.set(part, this.#length);
    this.#length += part.length;
  }

  /** Adds text as UTF-8: at most three bytes per character. */
  text(text: string): void {
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Adds a JSON string: at most six bytes per character, and two. */
  string(text: string): void {
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return this.text(JSON.stringify(text));
      bytes[at++] = code;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  /** Adds a number or null with its name, `,"name":`. Adds nothing for undefined. */
  member(name: Uint8Array, value: number | null | undefined): void {
    if (value === undefined) return;
    this.part(name);
    if (value === null) this.part(nullBytes);
    else this.number(value);
  }

  /** Adds a JSON number: at most 25 bytes. */
  number(value: number): void {
    const thousandths = Math.round(value * 1000);
    // Division rounds correctly, so that a value equal to it has these decimals.
    if (!(thousandths >= 0 && thousandths <= 0x7fffffff) || thousandths / 1000 !== value) {
      this.text(Number.isFinite(value) ? String(value) : 'null');
      return;
    }
    const whole = Math.trunc(thousandths / 1000);
    this.#digits(whole);
    const rest = thousandths - 1000 * whole;
    if (rest === 0) return;
    const bytes = this.#bytes;
    bytes[this.#length++] = point;
    bytes[this.#length++] = zero + Math.trunc(rest / 100);
    if (rest % 100 === 0) return;
    bytes[this.#length++] = zero + (Math.trunc(rest / 10) % 10);
    if (rest % 10 !== 0) bytes[this.#length++] = zero + (rest % 10);
  }

  /** Adds a whole number below 10,000,000. */
  #digits(value: number): void {
    let divisor = 1;
    while (divisor * 10 <= value) divisor *= 10;
    let rest = value;
    for (; divisor > 1; divisor = Math.trunc(divisor / 10)) {
      const digit = Math.trunc(rest / divisor);
      this.#bytes[this.#length++] = zero + digit;
      rest -= digit * divisor;
    }
    this.#bytes[this.#length++] = zero + rest;
  }
}
