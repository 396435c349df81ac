import { isObject } from './json.ts';

/** Returns JSON with sorted object keys, because the database does not preserve the order in which they were written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? sorted(inner) : inner));
}

function sorted(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Keys alone, because a comparison of entries calls a function for each pair.
  const keys = Object.keys(object).sort();
  return Object.fromEntries(keys.map((key) => [key, object[key]]));
}
