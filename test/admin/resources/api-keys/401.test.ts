import { afterAll, beforeAll, expect, it } from 'vitest';
import { newApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('API keys', [
  { method: 'GET', path: '/api-keys' },
  { method: 'POST', path: '/api-keys/organisation/service', body: { name: 'k', scopes: ['configs.list'] } },
  { method: 'POST', path: '/api-keys/any/rotate', body: {} },
]);

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane('PGlite');
});
afterAll(() => plane?.close());

it.each([
  ['no key', () => null, 'Send it in x-svc-api-key or in Authorization: Bearer'],
  ['the key of a provider', () => 'sk-proj-abcdefgh12345678', 'looks like a provider key'],
  ['a key that was not copied completely', () => plane.adminKey.slice(0, -1), 'copy the whole key again'],
  ['an unknown key', () => newApiKey('admin').text, 'this service has no such key'],
])('the error for %s says what to do', async (_case, key, text) => {
  const { status, body } = await plane.ask('GET', '/api-keys', { key: key() });
  expect([status, body.data.message]).toEqual([401, expect.stringContaining(text)]);
});
