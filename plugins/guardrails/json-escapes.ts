/**
 * Returns JSON text without the escapes that it does not need: programs that parse it read the characters. Also for a part of such a text. Reads 28 MB of
 * escapes in about 0.2 s; a regular expression needs 3 s.
 */
export function withoutEscapes(json: string): string {
  const first = json.indexOf('\\');
  if (first === -1) return json;
  const units = new Uint16Array(json.length - first);
  let length = 0;
  for (let at = first; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit !== backslash) {
      units[length++] = unit;
      continue;
    }
    const character = escapedAt(json, at);
    if (character !== -1) {
      units[length++] = character;
      at += lengthOf(json, at) - 1;
    } else {
      units[length++] = unit;
      // The second of two backslashes begins no escape.
      if (json.charCodeAt(at + 1) === backslash) {
        units[length++] = backslash;
        at++;
      }
    }
  }
  return json.slice(0, first) + Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
}

/** A part of JSON text without escapes, and the index in the JSON of each of its units, at last that of its end. */
export interface Unescaped {
  readonly text: string;
  readonly at: Uint32Array;
}

/**
 * As `withoutEscapes`, with the place of each unit. `isEscaped`: the part begins behind a backslash that escapes its first unit. `isLast` false: an escape
 * at the end that has not arrived completely is left out.
 */
export function unescapedPart(json: string, isEscaped: boolean, isLast: boolean): Unescaped {
  const units = new Uint16Array(json.length);
  const at = new Uint32Array(json.length + 1);
  let length = 0;
  const add = (unit: number, from: number): void => {
    at[length] = from;
    units[length++] = unit;
  };
  let from = 0;
  if (isEscaped && json !== '') add(json.charCodeAt(from), from++);
  while (from < json.length) {
    const unit = json.charCodeAt(from);
    if (unit === backslash) {
      if (!isLast && isCut(json, from)) break;
      const character = escapedAt(json, from);
      if (character !== -1) {
        add(character, from);
        from += lengthOf(json, from);
        continue;
      }
      if (json.charCodeAt(from + 1) === backslash) add(backslash, from++);
    }
    add(unit, from++);
  }
  at[length] = from;
  return { text: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'), at };
}

/** True if the text may end inside of the escape that begins there. */
function isCut(json: string, at: number): boolean {
  return at + 1 === json.length || (json.charCodeAt(at + 1) === letterU && at + escapeLength > json.length);
}

/** Length of an escape such as `\\u0041`. */
const escapeLength = 6;

/** The length of an escape that `escapedAt` has read. */
function lengthOf(json: string, at: number): number {
  return json.charCodeAt(at + 1) === letterU ? escapeLength : 2;
}

/** Returns the unit that the backslash stands for with those behind it; -1 if the escape is needed, or is none. */
function escapedAt(json: string, at: number): number {
  const next = json.charCodeAt(at + 1);
  if (next === slash) return slash;
  const character = next === letterU ? hexAt(json, at + 2) : -1;
  return character === -1 || mustBeEscaped(character) ? -1 : character;
}

const backslash = 0x5c;
const slash = 0x2f;
const letterU = 0x75;
const quote = 0x22;

/** True for quotes, backslashes and control characters. */
function mustBeEscaped(unit: number): boolean {
  return unit < 0x20 || unit === quote || unit === backslash || (unit >= 0x7f && unit <= 0x9f);
}

/** Returns the number of four hexadecimal digits; -1 if there are others. */
function hexAt(text: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = digitOf(text.charCodeAt(i));
    if (digit === -1) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
