import { expect, it } from 'vitest';
import { google } from '../../../../core/providers/google/index.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { callOf } from '../contract-suite.ts';

const path = (model: string, settings = {}) => google.operations.chatComplete?.path(callOf({ model }, {}, settings));

it.each([
  ['gemini-3.8-flash', '/v1beta/models/gemini-3.8-flash:generateContent'],
  ['models/gemini-3.8-flash', '/v1beta/models/gemini-3.8-flash:generateContent'],
  ['tunedModels/mine-1', '/v1beta/tunedModels/mine-1:generateContent'],
  ['a b?c#d', '/v1beta/models/a%20b%3Fc%23d:generateContent'],
])('google paths: finds the model %s', (model, expected) => {
  expect(path(model)).toBe(expected);
});

it.each(['', '..', '../files', 'models/../../files', 'a//b'])(
  'google paths: rejects the model name %j, which would change the path',
  (model) => {
    expect(() => path(model)).toThrow(/model:/);
  },
);

it('google paths: adds no version to a base URL that has one', () => {
  expect(path('m', { custom_host: 'https://proxy.example.com/v1alpha/' })).toBe('/models/m:generateContent');
  expect(path('m', { custom_host: 'https://proxy.example.com/gemini' })).toBe('/v1beta/models/m:generateContent');
});

it.each([
  ['/models', '/v1beta/models'],
  ['/v1beta/models', '/v1beta/models'],
  ['/v1/models', '/v1/models'],
  ['/upload/v1beta/files', '/upload/v1beta/files'],
  [
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  ],
  ['/videos', '/v1beta/videos'],
])('google paths: passes %s through as %s', (from, to) => {
  expect(google.proxyPath?.(from, {})).toBe(to);
});

it.each([
  ['/v1beta/models/m:generateContent', '/models/m:generateContent'],
  ['/models', '/models'],
  ['/ws/google.ai.Service', '/ws/google.ai.Service'],
  ['/upload/v1beta/files', '/upload/files'],
])('google paths: passes %s through as %s below a base URL with a version', (from, to) => {
  expect(google.proxyPath?.(from, { custom_host: 'https://proxy.example.com/v1beta' })).toBe(to);
});

it.each([
  ['/upload/v1beta/files', '/gemini/upload/v1beta/files'],
  ['/upload/files', '/gemini/upload/v1beta/files'],
  ['/download/v1beta/files/f:download', '/gemini/download/v1beta/files/f:download'],
  ['/v1beta/files/upload', '/gemini/v1beta/files/upload'],
])('google paths: sends %s to %s of a base URL with a version', async (from, to) => {
  const gateway = createHarness();
  const settings = { custom_host: 'https://proxy.example.com/gemini/v1beta' };
  gateway.documents.set(`provider ${workspaceId}/gem`, { ...providerDocument('gem', 'google'), settings });
  gateway.script(replyWith(200, {}));
  await gateway.send({ path: `/v1${from}`, headers: { 'x-svc-provider': '@gem' }, body: { a: 1 } });
  expect(gateway.calls[0]?.path).toBe(to);
});
