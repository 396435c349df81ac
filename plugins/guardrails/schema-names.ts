import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';

const lowerTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Types of JSON Schema, and in upper case those of Gemini. */
const types: ReadonlySet<unknown> = new Set([...lowerTypes, ...lowerTypes.map((type) => type.toUpperCase())]);

/** True for a JSON Schema. Providers write all of it into the prompt. */
export function isSchema({ type, properties }: JsonObject): boolean {
  return types.has(Array.isArray(type) ? type[0] : type) || isObject(properties);
}

/** True for a member of a JSON Schema that no dialect defines. */
export function isOwnName(name: string): boolean {
  return !keywords.has(name);
}

const keywords: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$ref', '$defs', '$anchor', '$comment', '$dynamicRef', '$dynamicAnchor', '$vocabulary', 'definitions'],
  ...['type', 'title', 'description', 'default', 'examples', 'example', 'enum', 'const', 'format', 'nullable', 'strict'],
  ...['readOnly', 'writeOnly', 'deprecated', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'contentEncoding', 'contentMediaType', 'contentSchema', 'discriminator'],
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'maxItems', 'minItems', 'uniqueItems'],
  ...['contains', 'maxContains', 'minContains', 'required', 'properties', 'patternProperties', 'additionalProperties'],
  ...['unevaluatedProperties', 'propertyNames', 'maxProperties', 'minProperties', 'dependentRequired', 'dependentSchemas'],
  ...['dependencies', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'propertyOrdering'],
  // Spellings of Gemini.
  ...['property_ordering', 'any_of', 'max_length', 'min_length', 'max_items', 'min_items', 'max_properties', 'min_properties'],
]);
