import * as v from 'valibot';
import { expect, it } from 'vitest';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import type { HeaderList } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { anthropic } from '../../../../core/providers/anthropic/anthropic.ts';
import { noTokens } from '../../formats/token-services.ts';

/** The headers of a sent call: those of the provider, then the client's, then those that `sign` adds. */
function leaving(settings: JsonObject, key: string, fromClient: HeaderList = []): Record<string, string> {
  const credentials = { api_key: new Secret(key) };
  const own = anthropic.headers(v.parse(anthropic.settings, settings), credentials);
  const call = { method: 'POST', origin: '', path: '/messages', headers: [...own, ...fromClient], body: null };
  anthropic.sign?.(call, settings, credentials, noTokens);
  expect(new Set(call.headers.filter((_, i) => i % 2 === 0)).size).toBe(call.headers.length / 2);
  return Object.fromEntries(Array.from({ length: call.headers.length / 2 }, (_, i) => call.headers.slice(2 * i, 2 * i + 2)));
}

it('Anthropic headers: an API key is x-api-key, with the version it was written for', () => {
  expect(leaving({}, 'sk-ant-api03-x')).toEqual({ 'x-api-key': 'sk-ant-api03-x', 'anthropic-version': '2023-06-01' });
});

it('Anthropic headers: an OAuth token is a bearer token, with its beta feature', () => {
  const bearer = { authorization: 'Bearer sk-ant-oat01-x', 'anthropic-version': '2023-06-01' };
  expect(leaving({}, 'sk-ant-oat01-x')).toEqual({ ...bearer, 'anthropic-beta': 'oauth-2025-04-20' });
  expect(leaving({}, 'sk-ant-oat01-x', ['anthropic-beta', 'a-1'])).toEqual({
    ...bearer,
    'anthropic-beta': 'a-1,oauth-2025-04-20',
  });
  expect(leaving({}, 'sk-ant-oat01-x', ['x-note', 'anthropic-beta', 'x-last', '1'])).toEqual({
    ...bearer,
    'x-note': 'anthropic-beta',
    'x-last': '1',
    'anthropic-beta': 'oauth-2025-04-20',
  });
  expect(leaving({}, 'sk-ant-oat01-x', ['anthropic-beta', 'oauth-2025-04-20,a-1'])['anthropic-beta']).toBe(
    'oauth-2025-04-20,a-1',
  );
});

it('Anthropic headers: settings add version and beta features', () => {
  expect(leaving({ anthropic_version: '2026-10-21', anthropic_beta: 'a-1,b-2' }, 'k')).toEqual({
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a-1,b-2',
    'x-api-key': 'k',
  });
});

it('Anthropic headers: the client’s version is used if the settings have none', () => {
  expect(leaving({}, 'k', ['anthropic-version', '2024-01-01'])['anthropic-version']).toBe('2024-01-01');
});

it('Anthropic headers: settings that would inject a header are rejected', () => {
  expect(v.safeParse(anthropic.settings, { anthropic_beta: 'a\r\nx-api-key: stolen' }).success).toBe(false);
});

it.each([
  ['/files', '/files'],
  ['/v1/files', '/files'],
  ['/v1/v1/messages/batches', '/messages/batches'],
  ['/v10/files', '/v10/files'],
])('Anthropic headers: a doubled version is removed from the pass-through path %s', (path, expected) => {
  expect(anthropic.proxyPath?.(path, {})).toBe(expected);
});
