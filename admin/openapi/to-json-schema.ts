import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { isEmptyObject, isObject } from '../../core/contract/values/json/json.ts';

/** JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Recursive schemas by their name in `components.schemas`. */
export type SharedSchemas = Map<string, JsonSchema>;

/**
 * Returns a valibot schema as JSON Schema: `input` describes what is accepted before transformation, `output` what is sent.
 * Checks between fields have no JSON Schema form and are left out. A pipe with `v.metadata({ jsonSchema })` before its first
 * transformation is described by that metadata. Recursive parts are added to `shared` under names that begin with `name`.
 */
export function describe(schema: v.GenericSchema, typeMode: 'input' | 'output', name: string, shared: SharedSchemas): JsonSchema {
  const {
    $schema: _,
    $defs,
    ...root
  } = toJsonSchema(schema, {
    typeMode,
    errorMode: 'ignore',
    target: 'draft-2020-12',
    overrideSchema: ({ jsonSchema }) => forGenerators(jsonSchema as JsonSchema) as never,
    overrideAction: ({ valibotAction }) =>
      valibotAction.type === 'metadata' ? ((valibotAction as { metadata?: Described }).metadata?.jsonSchema as never) : null,
  }) as JsonSchema;
  const rename = (key: string) => `${name}${key}`;
  for (const [key, part] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) {
    shared.set(rename(key), pointElsewhere(part, rename) as JsonSchema);
  }
  return pointElsewhere(root, rename) as JsonSchema;
}

const otherSpellingMark = 'x-other-spelling';

/**
 * Returns the schema of a field that is accepted, and is another spelling of a field that the API description has. Most client generators
 * give both spellings the same name, and their clients do not compile.
 */
export function otherSpelling<Schema extends v.GenericSchema>(schema: Schema) {
  return v.pipe(schema, v.metadata({ jsonSchema: { [otherSpellingMark]: true } }));
}

type Properties = Readonly<Record<string, JsonSchema>>;

function withoutOtherSpellings(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, property]) => !(otherSpellingMark in property)));
}

/** Replaces forms of schemas from which client generators write code that does not compile, or that fails. */
function forGenerators(schema: JsonSchema): JsonSchema {
  const { const: value, default: byDefault, ...others } = schema;
  // A constant boolean becomes a text in Java, and a field of the type `null` a class that does not exist.
  const constant = typeof value === 'boolean' ? {} : schema.type === 'null' ? { type: undefined, const: null } : { const: value };
  return {
    ...others,
    ...('const' in schema || schema.type === 'null' ? constant : {}),
    // Generators refuse `{}` as a default. An absent field has the same effect.
    ...('default' in schema && !isEmpty(byDefault) ? { default: byDefault } : {}),
    ...typeOfValues((schema.enum as unknown[] | undefined) ?? ('const' in schema ? [value] : [])),
    ...(schema.properties ? { properties: withoutOtherSpellings(schema.properties as Properties) } : {}),
    ...(schema.anyOf ? { anyOf: (schema.anyOf as JsonSchema[]).map(asAlternative) } : {}),
  };
}

/** Values without a type are read as values of any type. A Go client of oapi-codegen panics on such a parameter that is absent. */
function typeOfValues(values: readonly unknown[]): { readonly type?: 'string' | 'number' | 'boolean' } {
  const [type, ...others] = new Set(values.map((value) => typeof value));
  const isOne = others.length === 0 && (type === 'string' || type === 'number' || type === 'boolean');
  return isOne ? { type } : {};
}

/**
 * Returns an alternative of `anyOf` for which Java generators write code that compiles: a map of any values as an object without
 * further keywords, and a list of UUIDs as a list of texts.
 */
function asAlternative(schema: JsonSchema): JsonSchema {
  if (schema.const === null) return { type: 'null' };
  const { additionalProperties, propertyNames: _, ...others } = schema;
  if (isEmpty(additionalProperties) && !schema.properties) return others;
  const { items } = schema as { readonly items?: JsonSchema };
  return items?.format === 'uuid' ? { ...schema, items: { ...items, format: undefined } } : schema;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && isEmptyObject(value);
}

interface Described {
  readonly jsonSchema?: JsonSchema;
}

function pointElsewhere(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => pointElsewhere(inner, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\/(.+)$/, (_, at: string) => `#/components/schemas/${rename(at)}`)
        : pointElsewhere(inner, rename),
    ]),
  );
}
