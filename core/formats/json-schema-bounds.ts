import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Keywords that hold schemas: maps of schemas, then lists of schemas. */
const mapsOfSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const listsOfSchemas: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'prefixItems']);

/** Keywords that restrict a value beyond its structure. Few providers compile them, so they become text in the description. */
const bounds: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains'],
  ...['minProperties', 'maxProperties', 'patternProperties', 'propertyNames', 'dependentRequired', 'not', 'if', 'then', 'else'],
]);

/** Keywords about the schema itself. They do not restrict values. */
const notes: ReadonlySet<string> = new Set(['$schema', '$id', '$comment']);

export interface SchemaRules {
  /** True if every object must be closed (`additionalProperties: false`). */
  readonly closesObjects: boolean;
  /** Called if the result accepts other values than the given schema. */
  readonly changed: () => void;
}

/**
 * Returns a JSON schema with only the keywords that providers with constrained decoding compile. The structure stays, `oneOf`
 * becomes `anyOf`, and bounds (lengths, ranges, conditions) become part of the description.
 */
export function schemaWithoutBounds(schema: JsonObject, rules: SchemaRules): JsonObject {
  const { changed } = rules;
  const compiled: JsonObject = {};
  const described: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (notes.has(name)) continue;
    if (bounds.has(name) || (name === 'minItems' && value !== 0 && value !== 1)) described[name] = value;
    else if (mapsOfSchemas.has(name) && isObject(value)) compiled[name] = mapped(value, rules);
    else if (listsOfSchemas.has(name) && Array.isArray(value)) compiled[name] = value.map((item) => inner(item, rules));
    else if (name === 'oneOf' && Array.isArray(value)) {
      compiled.anyOf = value.map((item) => inner(item, rules));
      changed();
    } else if (name === 'items') compiled.items = inner(value, rules);
    else compiled[name] = value;
  }
  const isObjectType = schema.type === 'object' || (Array.isArray(schema.type) && schema.type.includes('object'));
  if (rules.closesObjects && (isObjectType || schema.properties !== undefined) && schema.additionalProperties !== false) {
    compiled.additionalProperties = false;
    changed();
  }
  if (Object.keys(described).length > 0) {
    const before = typeof schema.description === 'string' ? `${schema.description} ` : '';
    compiled.description = `${before}(${JSON.stringify(described)})`;
    changed();
  }
  return compiled;
}

function mapped(schemas: JsonObject, rules: SchemaRules): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, inner(schema, rules)]));
}

function inner(schema: unknown, rules: SchemaRules): unknown {
  return isObject(schema) ? schemaWithoutBounds(schema, rules) : schema;
}
