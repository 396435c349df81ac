import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { AddedCheck } from '../../core/contract/plugin/guardrails/plugin-check.ts';
import type { CheckDescription } from '../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { fromPlugin } from './checks/added.ts';
import type { Check } from './checks/check.ts';
import { checks } from './checks/index.ts';
import { sharedParameters } from './compile.ts';

/** Describes every check of this gateway, built-in or of a plugin, with the JSON Schema (2020-12) of its parameters, by id. */
export function describeChecks(added: ReadonlyMap<string, AddedCheck> = new Map()): CheckDescription[] {
  const builtIn = [...checks.values()].map((check) => describe(check, null, schemaOf(check.parameters)));
  const ofPlugins = [...added.values()]
    .filter(({ id }) => !checks.has(id))
    .map((check) => describe(fromPlugin(check), check.about, check.jsonSchema ?? schemaOf(check.parameters)));
  return [...builtIn, ...ofPlugins].sort((left, right) => (left.id < right.id ? -1 : 1));
}

function describe({ id, sides, changes, readsNoText }: Check, about: string | null, own: JsonObject): CheckDescription {
  return {
    id,
    about,
    sides: [...sides],
    changes: changes === undefined ? 'never' : changes === true ? 'always' : 'by_parameters',
    reads_text: readsNoText !== true,
    parameters: withShared(own),
  };
}

/** Conditions between fields have no JSON Schema form and are left out. */
function schemaOf(schema: v.GenericSchema): JsonObject {
  const { $schema: _, ...rest } = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore', target: 'draft-2020-12' });
  return rest;
}

function withShared(own: JsonObject): JsonObject {
  const shared = schemaOf(sharedParameters).properties;
  return { ...own, properties: { ...(isObject(own.properties) ? own.properties : {}), ...(isObject(shared) ? shared : {}) } };
}
