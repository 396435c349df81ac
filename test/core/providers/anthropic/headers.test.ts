import * as v from 'valibot';
import { expect, it } from 'vitest';
import { Secret } from '../../../../core/contract/secret.ts';
import { anthropic } from '../../../../core/providers/anthropic/index.ts';

it('sends an API key as x-api-key, with the version it was written for', () => {
  expect(anthropic.headers({}, { api_key: new Secret('sk-ant-api03-x') })).toEqual([
    'anthropic-version',
    '2023-06-01',
    'x-api-key',
    'sk-ant-api03-x',
  ]);
});

it('sends an OAuth token as a bearer', () => {
  const headers = anthropic.headers({}, { api_key: new Secret('sk-ant-oat01-x') });
  expect(headers).toContain('Bearer sk-ant-oat01-x');
  expect(headers).not.toContain('x-api-key');
});

it('sends the version and the beta features of the settings', () => {
  const settings = v.parse(anthropic.settings, { anthropic_version: '2026-10-21', anthropic_beta: 'a-1,b-2' });
  expect(anthropic.headers(settings, {})).toEqual(['anthropic-version', '2026-10-21', 'anthropic-beta', 'a-1,b-2']);
});

it('refuses settings that would smuggle in a header', () => {
  expect(v.safeParse(anthropic.settings, { anthropic_beta: 'a\r\nx-api-key: stolen' }).success).toBe(false);
});

it.each([
  ['/files', '/files'],
  ['/v1/files', '/files'],
  ['/v1/v1/messages/batches', '/messages/batches'],
  ['/v10/files', '/v10/files'],
])('takes a doubled version out of the pass-through path %s', (path, expected) => {
  expect(anthropic.proxyPath?.(path)).toBe(expected);
});
