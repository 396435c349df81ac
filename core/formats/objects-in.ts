import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Returns the objects of an untrusted list; an empty list for other values. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
