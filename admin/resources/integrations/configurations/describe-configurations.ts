import * as v from 'valibot';
import { isStored, type ProviderDeclaration } from '../../../../core/provider-settings/declaration.ts';
import { declarations } from '../../../../core/providers/declarations.ts';
import { describe, type JsonSchema } from '../../../openapi/to-json-schema.ts';
import { customHeaders } from './custom-headers.ts';

/**
 * Adds the content of `configurations` by provider type to the description of a body: one `if`/`then` per set of settings.
 * Required settings are not marked, because a secret mapping can replace them. `more`: further keywords of the description.
 */
export function withConfigurations<Entries extends v.ObjectEntries>(
  body: v.StrictObjectSchema<Entries, undefined>,
  more: JsonSchema,
) {
  const jsonSchema: JsonSchema = { ...describe(body, 'input', '', new Map()), ...more, allOf: conditions() };
  return v.pipe(body, v.metadata({ jsonSchema }));
}

function conditions(): JsonSchema[] {
  const bySettings = new Map<string, { ids: string[]; configurations: JsonSchema }>();
  for (const declaration of declarations) {
    const configurations = configurationsOf(declaration);
    const key = JSON.stringify(configurations);
    const known = bySettings.get(key) ?? { ids: [], configurations };
    known.ids.push(declaration.id, ...declaration.aliases);
    bySettings.set(key, known);
  }
  return [...bySettings.values()].map(({ ids, configurations }) => ({
    if: { properties: { ai_provider_id: { enum: ids } }, required: ['ai_provider_id'] },
    then: { properties: { configurations } },
  }));
}

function configurationsOf({ settings }: ProviderDeclaration): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    custom_headers: { ...nullable(customHeaders), description: 'Headers of every call. Sealed.' },
  };
  for (const [name, setting] of Object.entries(settings)) {
    if (!isStored(setting)) continue;
    const { schema, about, secret, example } = setting;
    properties[name] = { ...nullable(schema), description: about, ...(secret ? { writeOnly: true } : { examples: [example] }) };
  }
  return { type: ['object', 'null'], properties, additionalProperties: false };
}

function nullable(schema: v.GenericSchema): JsonSchema {
  return describe(v.nullable(schema), 'input', '', new Map());
}
