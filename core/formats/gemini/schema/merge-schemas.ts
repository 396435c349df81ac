import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';

/**
 * Returns a schema with its `allOf` merged: properties and required names are united, bounds narrowed, and of all other keywords
 * the last value applies. `resolve` replaces a part that is a reference by its target.
 */
export function mergedSchema(schema: JsonObject, resolve: (part: JsonObject) => JsonObject, nesting = 0): JsonObject {
  if (!Array.isArray(schema.allOf) || nesting > 20) return schema;
  const { allOf, ...own } = schema;
  const parts = allOf.filter(isObject).map((part) => mergedSchema(resolve(part), resolve, nesting + 1));
  return [...parts, own].reduce(merge, {});
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = { ...a, ...b };
  if (isObject(a.properties) && isObject(b.properties)) merged.properties = mergeProperties(a.properties, b.properties);
  if (Array.isArray(a.required) && Array.isArray(b.required)) merged.required = [...new Set([...a.required, ...b.required])];
  for (const [keyword, narrower] of narrowing) {
    const [first, second] = [a[keyword], b[keyword]];
    if (typeof first === 'number' && typeof second === 'number') merged[keyword] = narrower(first, second);
  }
  return merged;
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const merged = { ...a, ...b };
  for (const name of Object.keys(a)) {
    if (Object.hasOwn(b, name) && isObject(a[name]) && isObject(b[name])) merged[name] = { allOf: [a[name], b[name]] };
  }
  return merged;
}

const narrowing: readonly (readonly [string, (a: number, b: number) => number])[] = [
  ...(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const).map((key) => [key, Math.max] as const),
  ...(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'] as const).map((key) => [key, Math.min] as const),
];
