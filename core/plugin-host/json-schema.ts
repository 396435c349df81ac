import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import type { JsonSchema, PluginCheck } from '../contract/plugin/guardrails/plugin-check.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { pointerKeys } from '../contract/values/json/json-pointer.ts';

/** True for a JSON Schema, false for a schema of valibot. */
export function isJsonSchema(schema: unknown): schema is JsonSchema {
  return isObject(schema) && schema.type === 'object' && typeof schema['~run'] !== 'function';
}

/** True for a schema of valibot, also of a copy that a plugin brings. */
export function isValibot(schema: unknown): boolean {
  return isObject(schema) && schema.kind === 'schema' && typeof schema['~run'] === 'function';
}

/**
 * True for a schema that needs `await`, or has a part that does, also behind `v.lazy` unless its function needs an input. Settings and parameters are
 * validated synchronously: it would accept everything.
 */
export function isAsynchronous(schema: unknown, seen: Set<unknown> = new Set(), lazy: Set<unknown> = new Set()): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const { async, kind, $async } = schema as { readonly async?: unknown; readonly kind?: unknown; readonly $async?: unknown };
  if ((async === true && kindsOfValibot.has(kind)) || (seen.size === 1 && $async === true)) return true;
  return [...Object.values(schema), lazyPartOf(schema, lazy)].some((part) => isAsynchronous(part, seen, lazy));
}

/** More `v.lazy` than a schema has. Functions that return new objects at each call have no end. */
const lazyMax = 100;

/** Returns the schema behind `v.lazy` once; undefined for others, and if its function throws without an input. */
function lazyPartOf(schema: object, lazy: Set<unknown>): unknown {
  const { kind, type, getter } = schema as { readonly kind?: unknown; readonly type?: unknown; readonly getter?: unknown };
  if (kind !== 'schema' || type !== 'lazy' || typeof getter !== 'function' || lazy.has(getter) || lazy.size >= lazyMax)
    return undefined;
  lazy.add(getter);
  try {
    return getter(undefined);
  } catch {
    return undefined;
  }
}

/** Values of `kind` in parts of a schema. Defaults in a schema may have members `kind` and `async` of their own. */
const kindsOfValibot: ReadonlySet<unknown> = new Set(['schema', 'validation', 'transformation', 'metadata']);

/** Returns the schema of a check's parameters for valibot. Throws an Error if the JSON Schema is invalid. */
export function schemaOf(parameters: PluginCheck['parameters']): v.GenericSchema {
  if (parameters === undefined) return v.strictObject({});
  return isJsonSchema(parameters) ? fromJsonSchema(parameters) : parameters;
}

/** Completes defaults of the schema in a copy of the input. Issues have the path of the field. */
function fromJsonSchema(schema: JsonSchema): v.GenericSchema {
  const validate = ajv().compile(schema);
  return v.pipe(
    v.record(v.string(), v.unknown()),
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
      const copy = structuredClone(value);
      if (validate(copy)) return copy;
      for (const error of validate.errors ?? []) {
        const keys = keysOf(error, value);
        const path = keys.map((key) => ({
          type: 'unknown' as const,
          origin: 'value' as const,
          input: value,
          key,
          value: undefined,
        }));
        const message = error.keyword === 'additionalProperties' ? 'unknown key' : (error.message ?? 'invalid');
        const [first, ...rest] = path;
        addIssue({ message, ...(first ? { path: [first, ...rest] } : {}) });
      }
      return NEVER;
    }),
  ) as v.GenericSchema;
}

/** The path of an error. Indexes of lists are numbers. */
function keysOf({ instancePath, params }: ErrorObject, input: unknown): (string | number)[] {
  const keys: (string | number)[] = [];
  let at: unknown = input;
  for (const item of pointerKeys(instancePath)) {
    const key = Array.isArray(at) ? Number(item) : item;
    keys.push(key);
    at = (at as JsonObject)[key];
  }
  const { missingProperty, additionalProperty } = params as JsonObject;
  const last = missingProperty ?? additionalProperty;
  return typeof last === 'string' ? [...keys, last] : keys;
}

/**
 * The library is loaded only if a plugin has a JSON Schema. Each schema gets an instance of its own, so that two plugins may use the same `$id`.
 * It has no formats, and would write a line about each to stderr.
 */
function ajv(): Ajv2020 {
  const { Ajv2020: Library } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  return new Library({ useDefaults: true, strict: false, allErrors: true, validateFormats: false });
}
