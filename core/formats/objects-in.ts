import { isObject, type JsonObject } from '../contract/values/json.ts';

/** The objects of a list that came from outside; none where it is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
