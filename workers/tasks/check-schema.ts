import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { SchemaError, SchemaInput } from '../../core/contract/plugin/services/worker-tasks.ts';

const errorsMax = 50;
const compiled = new LRUCache<string, ValidateFunction>({ max: 100 });

/** Checks a JSON text against a JSON Schema (draft 2020-12). Throws if the schema or the text is not valid. */
export default function checkSchema({ schema, json }: SchemaInput): readonly SchemaError[] {
  const validate = compile(schema);
  if (json === null || validate(JSON.parse(json))) return [];
  return (validate.errors ?? [])
    .slice(0, errorsMax)
    .map(({ instancePath, message }) => ({ path: instancePath, message: message ?? 'does not match' }));
}

/**
 * Returns the length of the text as the size of a check. A schema with references has no bound: 1 KB of references to each other can take
 * exponential time, also for a short text. Patterns take up to 10,000 steps per character. Such checks must run in a thread, which has a
 * time limit.
 */
export function schemaSizeOf({ schema, json }: SchemaInput): number {
  if (json === null) return 0;
  return costly.test(JSON.stringify(schema)) ? Number.POSITIVE_INFINITY : json.length;
}

const costly = /"(?:\$(?:ref|dynamicRef|recursiveRef)|pattern|patternProperties)"/;

/** Returns the compiled schema. Throws with the keyword that is not valid. */
export function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = compiled.get(key);
  if (known) return known;
  // Such a schema would return a promise for each value, which is neither true nor false.
  if (schema.$async) throw new Error('$async is not supported');
  const { Ajv2020 } = library();
  const validate = new Ajv2020({
    allErrors: true,
    strict: false,
    validateFormats: false,
    // Ajv prints the code that it made of an invalid schema, up to megabytes.
    logger: false,
    // Optimising takes quadratic time: seconds for 16 KB of `oneOf`.
    code: { regExp: linearPatterns(), optimize: false },
  }).compile(schema);
  compiled.set(key, validate);
  return validate;
}

/** Loads Ajv with the first schema. It takes 30 ms of CPU time, and most gateways check none. */
function library(): typeof import('ajv/dist/2020.js') {
  return createRequire(import.meta.url)('ajv/dist/2020.js');
}

/** Maximum size of all patterns of a schema together, in instructions. Compiling them takes up to 30 ms. */
const patternsSizeMax = 10_000;

/** Users write the patterns in schemas. RE2 matches them in linear time. */
function linearPatterns() {
  let size = 0;
  const compilePattern = (pattern: string) => {
    if (size > patternsSizeMax) throw new Error(tooLarge);
    const expression = RE2JS.compile(pattern);
    size += expression.programSize();
    if (size > patternsSizeMax) throw new Error(tooLarge);
    // Ajv stores patterns by this text. Without it all patterns of a schema would be the first one.
    return { test: (text: string) => expression.matcher(text).find(), toString: () => pattern };
  };
  return Object.assign(compilePattern, { code: 'RE2JS.compile' });
}

const tooLarge = `the patterns are too large: at most ${patternsSizeMax} instructions together`;
