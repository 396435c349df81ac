import type { JsonObject } from './json.ts';

/** Returns true if an object in the JSON text has a key twice. `value` is the parsed text. */
export function hasDuplicateKeys(text: string, value: JsonObject): boolean {
  return keysIn(text) !== keysOf(value);
}

/** Counts the keys in the JSON text: its colons outside of strings. */
function keysIn(text: string): number {
  let keys = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText && code === backslash) i++;
    else if (code === quote) inText = !inText;
    else if (code === colon && !inText) keys++;
  }
  return keys;
}

const quote = 34;
const colon = 58;
const backslash = 92;

/** Counts the keys of the parsed value. */
function keysOf(value: JsonObject): number {
  let keys = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    const children = Object.values(next);
    if (!Array.isArray(next)) keys += children.length;
    for (const child of children) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return keys;
}
