import * as v from 'valibot';
import { expect, it } from 'vitest';
import { vertexAi } from '../../../../core/providers/vertex-ai/index.ts';
import { callOf } from '../contract-suite.ts';

const inProject = '/v1/projects/acme/locations/us-east5';
const path = (model: string, stream = false) =>
  vertexAi.operations.chatComplete?.path(callOf({ model, stream }, {}, { vertex_region: 'us-east5', vertex_project_id: 'acme' }));

it.each([
  ['gemini-3.8-flash', '/publishers/google/models/gemini-3.8-flash:generateContent'],
  ['google.gemini-2.5-pro', '/publishers/google/models/gemini-2.5-pro:generateContent'],
  ['publishers/google/models/gemini-2.5-pro', '/publishers/google/models/gemini-2.5-pro:generateContent'],
  [
    'projects/other/locations/eu/publishers/google/models/gemini-2.5-pro',
    '/publishers/google/models/gemini-2.5-pro:generateContent',
  ],
  ['claude-sonnet-4-5@20250929', '/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict'],
  ['anthropic/claude-opus-4-6', '/publishers/anthropic/models/claude-opus-4-6:rawPredict'],
  ['mistral-medium-3', '/publishers/mistralai/models/mistral-medium-3:rawPredict'],
  ['mistralai.codestral-2', '/publishers/mistralai/models/codestral-2:rawPredict'],
  ['meta/llama-4-maverick-17b-128e-instruct-maas', '/endpoints/openapi/chat/completions'],
  ['deepseek-ai/deepseek-v3.2-maas', '/endpoints/openapi/chat/completions'],
  ['1234567890', '/endpoints/1234567890:generateContent'],
  ['endpoints.987', '/endpoints/987/chat/completions'],
])('vertex-ai address: finds the model %s', (model, expected) => {
  expect(path(model)).toBe(inProject + expected);
});

it('vertex-ai address: each family streams by its own method', () => {
  expect(path('gemini-3.8-flash', true)).toMatch(/:streamGenerateContent\?alt=sse$/);
  expect(path('claude-opus-4-6', true)).toMatch(/:streamRawPredict$/);
  expect(path('mistral-medium-3', true)).toMatch(/:streamRawPredict$/);
  expect(path('meta/llama-3.3-70b-instruct-maas', true)).toMatch(/\/endpoints\/openapi\/chat\/completions$/);
});

it.each(['', 'google/../x', '../../v1/projects/other'])(
  'vertex-ai address: rejects the model name %j, which would change the path',
  (model) => {
    expect(() => path(model)).toThrow(/model:/);
  },
);

it.each([
  [{}, 'https://aiplatform.googleapis.com'],
  [{ vertex_region: 'global' }, 'https://aiplatform.googleapis.com'],
  [{ vertex_region: 'europe-west4' }, 'https://europe-west4-aiplatform.googleapis.com'],
  [{ vertex_region: 'eu' }, 'https://aiplatform.eu.rep.googleapis.com'],
])('vertex-ai address: uses the host of the region, %j', (settings, expected) => {
  expect(vertexAi.baseUrl(settings)).toBe(expected);
});

it.each([
  { vertex_region: 'evil.example.com/' },
  { vertex_region: 'us-central1@evil' },
  { vertex_project_id: 'a/../../b' },
  { vertex_auth_type: 'magic' },
])('vertex-ai address: rejects settings that would change the host, %j', (settings) => {
  expect(v.safeParse(vertexAi.settings, settings).success).toBe(false);
});

it.each([
  ['/publishers/google/models/m:predict', `${inProject}/publishers/google/models/m:predict`],
  ['/endpoints/1:predict', `${inProject}/endpoints/1:predict`],
  ['/projects/p/locations/l/models', '/v1/projects/p/locations/l/models'],
  ['/v1beta1/publishers/google/models', '/v1beta1/publishers/google/models'],
  [
    '/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent',
    '/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent',
  ],
])('vertex-ai address: passes %s through as %s', (from, to) => {
  expect(vertexAi.proxyPath?.(from, { vertex_region: 'us-east5', vertex_project_id: 'acme' })).toBe(to);
});
