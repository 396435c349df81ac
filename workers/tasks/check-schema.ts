import { createRequire } from 'node:module';
import type { Ajv, Options, ValidateFunction } from 'ajv';
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

/** Returns the compiled schema. Throws with the keyword that is not valid. `isForeign`: see `leavePatterns`. */
export function compile(schema: Readonly<Record<string, unknown>>, { isForeign = false } = {}): ValidateFunction {
  const key = `${isForeign ? 'foreign ' : ''}${JSON.stringify(schema)}`;
  const known = compiled.get(key);
  if (known) return known;
  // Such a schema would return a promise for each value, which is neither true nor false.
  if (schema.$async) throw new Error('$async is not supported');
  const { $schema: dialect, ...rest } = schema;
  const regExp = linearPatterns();
  const ajv = new (libraryOf(dialect))({
    allErrors: true,
    strict: false,
    validateFormats: false,
    // Ajv prints the code that it made of an invalid schema, up to megabytes.
    logger: false,
    // Optimising takes quadratic time: seconds for 16 KB of `oneOf`.
    code: { regExp, optimize: false },
  });
  if (isForeign) leavePatterns(ajv, regExp);
  const validate = ajv.compile(rest);
  compiled.set(key, validate);
  return validate;
}

/** Returns the class for a dialect: draft 2020-12 if the schema names none. Loads Ajv, which takes 30 ms of CPU time, when it is used first. */
function libraryOf(dialect: unknown): new (options: Options) => Ajv {
  const load = createRequire(import.meta.url);
  if (dialect === undefined || isDialect(dialect, 'draft/2020-12')) {
    return (load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020;
  }
  if (isDialect(dialect, 'draft/2019-09')) return (load('ajv/dist/2019.js') as typeof import('ajv/dist/2019.js')).Ajv2019;
  if (isDialect(dialect, 'draft-07')) return (load('ajv') as typeof import('ajv')).Ajv;
  throw new Error(`$schema: ${String(dialect).slice(0, 100)} is not supported. Use draft 2020-12, 2019-09 or draft-07`);
}

function isDialect(uri: unknown, draft: string): boolean {
  return typeof uri === 'string' && new RegExp(`^https?://json-schema\\.org/${draft}/schema#?$`).test(uri);
}

/**
 * Leaves each `pattern` that RE2 cannot match, such as one with look-ahead, to the server: libraries for schemas write them for common formats, and
 * the authors are not users of the gateway. The rest of the schema is checked.
 */
function leavePatterns(ajv: Ajv, regExp: (pattern: string) => { test(text: string): boolean }): void {
  ajv.removeKeyword('pattern');
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    error: { message: ({ schema }) => `must match pattern ${JSON.stringify(schema)}` },
    compile(pattern: string) {
      try {
        const { test } = regExp(pattern);
        return test;
      } catch {
        return () => true;
      }
    },
  });
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
