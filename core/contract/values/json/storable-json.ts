/** NUL and half of a surrogate pair, which PostgreSQL cannot hold. */
export const unstorable = /\u0000|\p{Surrogate}/u;
const unstorables = /\u0000|\p{Surrogate}/gu;

/** Deeper values overflow the stack of `JSON.stringify` and of other recursive readers: at about 5,000 levels in Node 22. */
const depthMax = 200;

/**
 * Returns true if the value can be stored as JSON: without NUL and half of a surrogate pair, which PostgreSQL cannot hold, and with at most
 * 200 levels.
 */
export function isStorable(value: unknown): boolean {
  return isStorableAt(value, 0);
}

function isStorableAt(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !unstorable.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === depthMax) return false;
  if (Array.isArray(value)) return value.every((inner) => isStorableAt(inner, depth + 1));
  return Object.entries(value).every(([key, inner]) => !unstorable.test(key) && isStorableAt(inner, depth + 1));
}

/** Returns the text with U+FFFD instead of NUL and half of surrogate pairs, as records have it. */
export function storableText(text: string): string {
  return unstorable.test(text) ? text.replace(unstorables, '\ufffd') : text;
}

/** Returns the value with `storableText` of all texts and names in it. Its nesting must be bounded. */
export function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(storableValue);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), storableValue(inner)]));
}
