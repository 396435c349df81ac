import { textOf } from '../text/utf8.ts';

/** JSON values. `unknown` inside makes readers check the fields they use and pass the others on unchanged. */
export type JsonObject = Record<string, unknown>;

/** False for lists and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an untrusted list; an empty list for other values. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of an untrusted list; an empty list for other values. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns true for a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Returns a text that is not empty, and null for other values. */
export function textOrNull(value: unknown): string | null {
  return isText(value) ? value : null;
}

/** Returns true for an object without members of its own or inherited ones. */
export function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** Parses a JSON object. Null for other values and for text that is not JSON. */
export function parseObject(json: string | Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(typeof json === 'string' ? json : textOf(json));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
