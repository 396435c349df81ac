import { expect, it } from 'vitest';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import { createBuilder } from '../../../../core/pipeline/target/build-target.ts';
import { providers } from '../../../../core/providers/index.ts';

const builder = createBuilder({
  providers,
  parseBaseUrl: (url) => ({ origin: new URL(url).origin, path: new URL(url).pathname }),
});
const headersOf = (type: string, key: string) =>
  builder.build(builder.adapterOf(type), null, {}, { api_key: new Secret(key) }, null).headers;

it.each(['key', 'Token', 'basic'])('build target: sends the key %j, although it is the name of a scheme', (key) => {
  expect(headersOf('anthropic', key)).toEqual(['x-api-key', key]);
  expect(headersOf('openai', key)).toEqual(['authorization', `Bearer ${key}`]);
});

it.each(['anthropic', 'openai', 'deepgram', 'google'])('build target: sends no header of %s for an empty key', (type) => {
  expect(headersOf(type, '')).toEqual([]);
});
