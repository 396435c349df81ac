import { isObject, type JsonObject } from '../../contract/json.ts';
import { claudeTraits } from './claude-models.ts';
import { makerOf } from './model-id.ts';

/** Makers without structured output on the Converse API; the open-weight models of the others have it. */
const makersWithout: ReadonlySet<string> = new Set(['', 'ai21', 'amazon', 'cohere', 'meta', 'stability', 'twelvelabs', 'writer']);

/** True when replies and strict tools of this model can be bound to a JSON schema (Bedrock user guide, structured output). */
export function takesSchemas(model: string): boolean {
  return claudeTraits(model)?.schemas ?? !makersWithout.has(makerOf(model));
}

/** Keywords whose values are schemas by name, lists of schemas, and one schema. */
const mapsOfSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const listsOfSchemas: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'prefixItems']);

/** Keywords that bind a value beyond its shape. The provider refuses them, so they become words the model can read. */
const bounds: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains'],
  ...['minProperties', 'maxProperties', 'patternProperties', 'propertyNames', 'dependentRequired', 'not', 'if', 'then', 'else'],
]);

/** Notes about the schema itself, without effect on what it takes. */
const notes: ReadonlySet<string> = new Set(['$schema', '$id', '$comment']);

/**
 * A JSON schema with only the keywords the provider compiles: objects are closed, `oneOf` is `anyOf`, and bounds move into the
 * description. `changed` is called when the result means something else than what was given.
 */
export function compileSchema(schema: JsonObject, changed: () => void): JsonObject {
  const compiled: JsonObject = {};
  const told: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (notes.has(name)) continue;
    if (bounds.has(name) || (name === 'minItems' && value !== 0 && value !== 1)) told[name] = value;
    else if (mapsOfSchemas.has(name) && isObject(value)) compiled[name] = mapped(value, changed);
    else if (listsOfSchemas.has(name) && Array.isArray(value)) compiled[name] = value.map((item) => inner(item, changed));
    else if (name === 'oneOf' && Array.isArray(value)) {
      compiled.anyOf = value.map((item) => inner(item, changed));
      changed();
    } else if (name === 'items') compiled.items = inner(value, changed);
    else compiled[name] = value;
  }
  const isObjectType = schema.type === 'object' || (Array.isArray(schema.type) && schema.type.includes('object'));
  if ((isObjectType || schema.properties !== undefined) && schema.additionalProperties !== false) {
    compiled.additionalProperties = false;
    changed();
  }
  if (Object.keys(told).length > 0) {
    const before = typeof schema.description === 'string' ? `${schema.description} ` : '';
    compiled.description = `${before}(${JSON.stringify(told)})`;
    changed();
  }
  return compiled;
}

function mapped(schemas: JsonObject, changed: () => void): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, inner(schema, changed)]));
}

function inner(schema: unknown, changed: () => void): unknown {
  return isObject(schema) ? compileSchema(schema, changed) : schema;
}
