import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { referenced } from '../../contract/values/json/json-pointer.ts';
import { numberIn } from './number-in.ts';

/**
 * Returns a simple value that a JSON Schema allows, so that typed clients can read the mock's reply. Supports the keywords of
 * structured outputs. Strings take `text`. Nesting (and recursion through `$ref`) ends at 12 levels with null.
 */
export function exampleOf(schema: unknown, text: string): unknown {
  return valueFor(schema, text, isObject(schema) ? schema : {}, 0);
}

function valueFor(schema: unknown, text: string, root: JsonObject, depth: number): unknown {
  if (!isObject(schema) || depth > 12) return null;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (typeof schema.$ref === 'string') return valueFor(referenced(root, schema.$ref), text, root, depth + 1);
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const choices = schema[key];
    if (Array.isArray(choices)) return valueFor(choices[0], text, root, depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || isObject(schema.properties)) {
    const properties = isObject(schema.properties) ? schema.properties : {};
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valueFor(inner, text, root, depth + 1)]));
  }
  if (type === 'array') {
    return Array.from({ length: Math.max(1, numberIn(schema.minItems) || 1) }, () =>
      valueFor(schema.items, text, root, depth + 1),
    );
  }
  if (type === 'string') return text;
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  return type === 'boolean' ? true : null;
}
