import type { JsonSchema } from './to-json-schema.ts';

const flag = { type: 'string', enum: ['true', 'false'] };
/** A header value: no control characters. Longer ones do not fit the header block of a request (default of HEADERS_MAX). */
const headerText = { type: 'string', pattern: '^[ -~]*$', maxLength: 65_536 };

/** Schemas of the request headers of the data plane, by name without prefix. */
const headerSchemas: Readonly<Record<string, JsonSchema>> = {
  'custom-host': { ...headerText, format: 'uri' },
  'trace-id': { type: 'string', pattern: '^[ -~]{1,255}$' },
  metadata: { ...headerText, contentMediaType: 'application/json', contentSchema: { type: 'object' } },
  cache: { type: 'string', enum: ['simple', 'true', 'false'] },
  'cache-force-refresh': flag,
  'request-timeout': { type: 'string', pattern: '^[1-9][0-9]{0,8}$' },
  'forward-headers': { type: 'string', pattern: '^[a-z0-9-]{1,64}(,[a-z0-9-]{1,64})*$' },
  'strict-open-ai-compliance': flag,
  debug: flag,
  'debug-route': flag,
};

/** Returns the schema of a request header of the data plane. */
export function headerSchema(name: string): JsonSchema {
  return headerSchemas[name] ?? headerText;
}

const text = { type: 'string' };
const textOrList = { anyOf: [text, { type: 'array', items: {}, minItems: 1 }] };
const bytes = { type: 'string', format: 'binary' };
const messages = { type: 'array', items: { type: 'object' }, minItems: 1 };

/** Schemas of required members of bodies. Members that are not listed may have any value. */
const memberSchemas: Readonly<Record<string, JsonSchema>> = {
  completion_window: text,
  config: {
    anyOf: [{ type: 'string', minLength: 1, maxLength: 255 }, { type: 'object' }],
    description: 'Slug of a saved config, or a config. Absent: the config that a request with this key would use',
  },
  documents: { type: 'array', items: {}, minItems: 1 },
  document: { type: 'object' },
  endpoint: text,
  expires_after: { type: 'object', description: '`seconds`: 10 to 7200, by default 600' },
  file: bytes,
  image: bytes,
  input: textOrList,
  input_file_id: text,
  max_tokens: { type: 'integer', minimum: 1 },
  messages,
  prompt: textOrList,
  purpose: text,
  query: text,
  request: { type: 'object', description: 'The request that is explained: `method`, `path`, `headers`, `metadata`, `body`' },
  session: { type: 'object', description: 'The session, with `model`. Its settings are sent to the provider when it begins' },
  training_file: text,
};

/** Returns the schema of a member of a data-plane body. */
export function memberSchema(name: string): JsonSchema {
  return memberSchemas[name] ?? {};
}
