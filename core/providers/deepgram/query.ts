import type { JsonObject } from '../../contract/values/json/json.ts';

/** Converts parameters to a query: lists become repeated names. Objects are dropped, because the API has no form for them. */
export function pathWithQuery(path: string, params: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isPlain(item)) query.append(name, String(item));
    }
  }
  return `${path}?${query}`;
}

/** True for values that a query can hold. */
export function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
