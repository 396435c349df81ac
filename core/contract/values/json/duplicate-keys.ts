import type { JsonObject } from './json.ts';

/** Returns true if an object in the JSON text has a key twice. `value` is the parsed text. */
export function hasDuplicateKeys(text: string, value: JsonObject): boolean {
  return keysIn(text) !== keysOf(value);
}

/** Counts the keys in the JSON text: its colons outside of strings. */
function keysIn(text: string): number {
  let keys = 0;
  for (let from = 0; ; ) {
    const found = text.indexOf('"', from);
    const open = found < 0 ? text.length : found;
    for (let i = from; i < open; i++) if (text.charCodeAt(i) === colon) keys++;
    if (found < 0) return keys;
    from = endOfString(text, open) + 1;
  }
}

/** Returns the index of the quote that ends the string. `indexOf` skips long texts faster than a loop. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

const colon = 58;
const backslash = 92;

/** Counts the keys of the parsed value. */
function keysOf(value: JsonObject): number {
  let keys = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const child of next) if (typeof child === 'object' && child !== null) open.push(child);
      continue;
    }
    const members = next as JsonObject;
    // A parsed object inherits nothing that is enumerable.
    for (const key in members) {
      keys++;
      const child = members[key];
      if (typeof child === 'object' && child !== null) open.push(child);
    }
  }
  return keys;
}
