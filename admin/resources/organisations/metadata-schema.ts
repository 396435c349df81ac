import { createRequire } from 'node:module';
import { RE2JS } from 're2js';
import * as v from 'valibot';
import { AdminError } from '../../http/errors.ts';

const bytesMax = 16_384;

/** Constraints on one metadata value. Metadata values are strings. */
const property = v.strictObject({
  type: v.literal('string', 'metadata values are strings'),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  enum: v.optional(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1_000))),
  const: v.optional(v.string()),
  default: v.optional(v.string()),
  examples: v.optional(v.array(v.string())),
  minLength: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  maxLength: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  pattern: v.optional(
    v.pipe(v.string(), v.maxLength(256, 'at most 256 characters'), v.check(isPattern, 'not a valid RE2 pattern')),
  ),
});

/**
 * JSON schema for metadata: the part of draft-07 that applies to a flat map of strings. Additional keys are always allowed, so
 * that a schema does not reject requests for keys it does not mention.
 */
export const metadataSchema = v.pipe(
  v.strictObject({
    $schema: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, 'draft-07 is expected'))),
    title: v.optional(v.string()),
    description: v.optional(v.string()),
    type: v.literal('object', 'object is expected'),
    additionalProperties: v.literal(true, 'must be true'),
    properties: v.optional(v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), property)),
    required: v.optional(v.pipe(v.array(v.string()), v.maxLength(50, 'at most 50'))),
    minProperties: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(50))),
    maxProperties: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  }),
  v.check((schema) => JSON.stringify(schema).length <= bytesMax, `at most ${bytesMax} bytes`),
  // Members of this object are named like keywords of JSON Schema, which client generators mistake for keywords.
  v.metadata({
    jsonSchema: { type: 'object', additionalProperties: {}, description: 'A JSON schema (draft-07) of an object of texts.' },
  }),
);

/** Throws AB01 with one `path.key: reason` per issue, without the value, if metadata does not match the schema. */
export function checkMetadata(
  schema: Readonly<Record<string, unknown>> | null | undefined,
  metadata: Readonly<Record<string, string>>,
  path = 'defaults.metadata',
): void {
  if (!schema) return;
  const { Ajv } = library();
  const check = new Ajv({ allErrors: true, strict: false, code: { regExp: linearPattern } }).compile(schema);
  if (check(metadata)) return;
  const errors = (check.errors ?? [])
    .slice(0, 50)
    .map((error) => `${path}${error.instancePath.replaceAll('/', '.')}: ${error.message}`);
  throw new AdminError('AB01', errors[0] ?? `${path}: does not match the schema of the organisation`, errors);
}

/** Loaded only if an organisation has a schema. */
function library(): typeof import('ajv') {
  return createRequire(import.meta.url)('ajv');
}

/** Users write these patterns. RE2 guarantees that none can block this process. */
const linearPattern = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // Ajv caches compiled patterns by this text. Without it, every pattern of a schema would be the first one.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: 'RE2JS.compile' },
);

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
