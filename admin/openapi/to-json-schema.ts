import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';

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
    overrideSchema: ({ jsonSchema }) => ({
      ...jsonSchema,
      ...(jsonSchema.properties ? { properties: withoutOtherSpellings(jsonSchema.properties as Properties) } : {}),
      ...(isEmptyObject(jsonSchema.default) ? { default: undefined } : {}),
      ...typeOfValues(jsonSchema.enum ?? ('const' in jsonSchema ? [jsonSchema.const] : [])),
    }),
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

/** Client generators read values without a type as values of any type. A Go client of oapi-codegen panics on such a parameter that is absent. */
function typeOfValues(values: readonly unknown[]): { readonly type?: 'string' | 'number' | 'boolean' } {
  const [type, ...others] = new Set(values.map((value) => typeof value));
  const isOne = others.length === 0 && (type === 'string' || type === 'number' || type === 'boolean');
  return isOne ? { type } : {};
}

/** Client generators refuse `{}` as a default. An absent field has the same effect. */
function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
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
