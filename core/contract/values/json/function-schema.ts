import { isObject, type JsonObject } from './json.ts';

const mapsOfSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const listsOfSchemas: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

/**
 * Returns the JSON Schema of a function's arguments with the keywords that OpenAI requires and that MCP servers and other APIs leave out: `type`
 * and `properties` of the arguments, and `items` of every array. It accepts the same values. Returns the same object if nothing is missing.
 */
export function functionSchema(schema: JsonObject): JsonObject {
  const whole = withItems(schema);
  return 'type' in whole && 'properties' in whole ? whole : { type: 'object', properties: {}, ...whole };
}

function withItems(schema: JsonObject): JsonObject {
  let made = schema;
  for (const [name, value] of Object.entries(schema)) {
    const changed = memberWithItems(name, value);
    if (changed !== value) made = { ...made, [name]: changed };
  }
  const { type } = schema;
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isArray && !('items' in schema) && !('prefixItems' in schema) ? { ...made, items: {} } : made;
}

function memberWithItems(name: string, value: unknown): unknown {
  if (schemas.has(name) && isObject(value)) return withItems(value);
  if (listsOfSchemas.has(name) && Array.isArray(value)) {
    const made = value.map((item) => (isObject(item) ? withItems(item) : item));
    return made.some((item, at) => item !== value[at]) ? made : value;
  }
  if (!mapsOfSchemas.has(name) || !isObject(value)) return value;
  let made = value;
  for (const [key, inner] of Object.entries(value)) {
    const changed = isObject(inner) ? withItems(inner) : inner;
    if (changed === inner) continue;
    // Copied once: 16,000 properties took a minute.
    if (made === value) made = { ...value };
    made[key] = changed;
  }
  return made;
}
