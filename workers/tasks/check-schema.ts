import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { SchemaError, SchemaInput } from '../../core/contract/plugin/worker-tasks.ts';

const errorsMax = 50;
const compiled = new LRUCache<string, ValidateFunction>({ max: 100 });

/** Checks a JSON text against a JSON Schema (draft 2020-12). Throws if the schema or the text is not valid. */
export default function checkSchema({ schema, json }: SchemaInput): readonly SchemaError[] {
  const validate = compile(schema);
  if (validate(JSON.parse(json))) return [];
  return (validate.errors ?? [])
    .slice(0, errorsMax)
    .map(({ instancePath, message }) => ({ path: instancePath, message: message ?? 'does not match' }));
}

/** Returns the compiled schema. Throws with the keyword that is not valid. */
export function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = compiled.get(key);
  if (known) return known;
  const { Ajv2020 } = library();
  const validate = new Ajv2020({
    allErrors: true,
    strict: false,
    validateFormats: false,
    code: { regExp: linearPattern },
  }).compile(schema);
  compiled.set(key, validate);
  return validate;
}

/** Loads Ajv with the first schema. It takes 30 ms of CPU time, and most gateways check none. */
function library(): typeof import('ajv/dist/2020.js') {
  return createRequire(import.meta.url)('ajv/dist/2020.js');
}

/** Users write the patterns in schemas. RE2 matches them in linear time. */
const linearPattern = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    // Ajv stores patterns by this text. Without it all patterns of a schema would be the first one.
    return { test: (text: string) => expression.matcher(text).find(), toString: () => pattern };
  },
  { code: 'RE2JS.compile' },
);
