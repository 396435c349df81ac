import { Buffer } from 'node:buffer';
import { bufferOf, copyBytes } from './json-steps.ts';
import { StringEnds } from './string-ends.ts';

/**
 * Returns JSON with `[0]` in place of each long list of numbers under this name, and an empty text in place of each long text: to parse a number
 * takes a hundred times as long as to skip it. Null if there is none, or if such a value does not end. A list with texts, lists, objects or words
 * such as `null` and `NaN` stays. The values are not checked otherwise. Runs in steps of about 1 MiB.
 */
export function* withoutValues(given: Uint8Array, name: string): Generator<void, Uint8Array | null> {
  const bytes = bufferOf(given);
  const mark = Buffer.from(JSON.stringify(name));
  const ends = new StringEnds(bytes);
  const kept: Uint8Array[] = [];
  let keptUpTo = 0;
  let stepAt = 0;
  let marks = 0;
  let closeAt = -1;
  let at = 0;
  for (let found = bytes.indexOf(mark); found !== -1; found = bytes.indexOf(mark, at)) {
    if (found - stepAt + ++marks * markBytes > copyBytes) {
      stepAt = found;
      marks = 0;
      yield;
    }
    at = skipSpace(bytes, found + mark.length);
    // Behind a backslash the mark is the end of a longer name or text. Without a colon it is a text.
    if (bytes[found - 1] === backslash || bytes[at] !== colon) continue;
    const from = skipSpace(bytes, at + 1);
    const isText = bytes[from] === quote;
    if (!isText && bytes[from] !== openArray) {
      at = from;
      continue;
    }
    // The next bracket is searched for once, however many values begin before it.
    if (!isText && closeAt < from) closeAt = bytes.indexOf(closeArray, from);
    const end = isText ? ends.after(from + 1, bytes.length) : closeAt;
    if (end < 0) return null;
    const isLeftOut = end - from > keptBytesMax && (isText || hasNumbersOnly(bytes.subarray(from + 1, end)));
    at = isText || isLeftOut ? end : from + 1;
    if (!isLeftOut) continue;
    kept.push(bytes.subarray(keptUpTo, from + 1));
    if (!isText) kept.push(zero);
    keptUpTo = end;
  }
  if (kept.length === 0) return null;
  kept.push(bytes.subarray(keptUpTo));
  return Buffer.concat(kept);
}

/** Searches in all bytes take a tenth of the time of a look at each. */
function hasNumbersOnly(list: Buffer): boolean {
  return otherBytes.every((byte) => !list.includes(byte));
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** A look at a value takes as long as a search in this many bytes. */
const markBytes = 256;
/** Shorter values stay. */
const keptBytesMax = 256;
const zero = Buffer.from('0');
/** The quote is the first, because lists of texts have it early. A letter of each word in JSON and of Python's `NaN` and `Infinity` follows the brackets. */
const otherBytes = Buffer.from('"[{anu');
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
