import { isEscaped } from './escaped-quote.ts';
import type { JsonObject } from './json.ts';

/** Returns true if an object in the JSON text has a key twice. `value` is the parsed text. */
export function hasDuplicateKeys(text: string, value: JsonObject): boolean {
  const scan = newScan(value);
  countInText(text, scan, text.length);
  countInValue(scan, Number.POSITIVE_INFINITY);
  return scan.keys !== 0;
}

/** Texts up to this length are scanned in one turn of the event loop. */
export const scannedAtOnce = 256 * 1024;
const valuesPerStep = 16 * 1024;

/** The same in steps, because a long text takes tens of milliseconds per megabyte. */
export function* duplicateKeySteps(text: string, value: JsonObject): Generator<void, boolean> {
  const scan = newScan(value);
  while (scan.at < text.length) {
    countInText(text, scan, Math.min(text.length, scan.at + scannedAtOnce));
    yield;
  }
  while (scan.open.length > 0) {
    countInValue(scan, valuesPerStep);
    yield;
  }
  return scan.keys !== 0;
}

interface Scan {
  at: number;
  /** True if `at` is in a string. */
  isInString: boolean;
  /** Keys in the text, less those in the values so far. */
  keys: number;
  readonly open: object[];
}

function newScan(value: JsonObject): Scan {
  return { at: 0, isInString: false, keys: 0, open: [value] };
}

/** Counts the keys in the JSON text up to `limit`: its colons outside of strings. The last string is read to its end. */
function countInText(text: string, scan: Scan, limit: number): void {
  let { at, isInString, keys } = scan;
  while (at < limit) {
    if (isInString) {
      const quote = text.indexOf('"', at);
      isInString = quote >= 0 && isEscaped(text, quote);
      at = quote < 0 ? limit : quote + 1;
      continue;
    }
    const code = text.charCodeAt(at++);
    if (code === colon) keys++;
    else if (code === doubleQuote) isInString = true;
  }
  Object.assign(scan, { at, isInString, keys });
}

const colon = 58;
const doubleQuote = 34;

/** Subtracts the keys of at most `valuesMax` open objects and lists. */
function countInValue(scan: Scan, valuesMax: number): void {
  const { open } = scan;
  let left = valuesMax;
  for (let next = left-- > 0 ? open.pop() : undefined; next; next = left-- > 0 ? open.pop() : undefined) {
    if (Array.isArray(next)) {
      for (const child of next) if (typeof child === 'object' && child !== null) open.push(child);
      continue;
    }
    const members = next as JsonObject;
    // A parsed object inherits nothing that is enumerable.
    for (const key in members) {
      scan.keys--;
      const child = members[key];
      if (typeof child === 'object' && child !== null) open.push(child);
    }
  }
}
