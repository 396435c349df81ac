import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

/** Pages of each provider's list in its own format, and the lists that OpenAI's clients receive. */
const lists: readonly {
  readonly provider: string;
  readonly settings?: JsonObject;
  readonly pages: readonly JsonObject[];
  readonly paths: readonly string[];
  readonly ids: readonly string[];
}[] = [
  {
    provider: 'google',
    pages: [
      { models: [{ name: 'models/gemini-3.8-flash', inputTokenLimit: 1_048_576 }, { name: 'models/gemini-embedding-2' }, {}] },
    ],
    paths: ['/v1beta/models?pageSize=1000'],
    ids: ['gemini-3.8-flash', 'gemini-embedding-2'],
  },
  {
    provider: 'vertex-ai',
    settings: { vertex_region: 'europe-west4', vertex_project_id: 'acme-prod' },
    pages: [
      { publisherModels: [{ name: 'publishers/google/models/gemini-3.8-flash' }], nextPageToken: 'a/b' },
      { publisherModels: [{ name: 'publishers/google/models/gemini-3.8-flash-tts' }] },
    ],
    paths: ['/v1beta1/publishers/google/models?pageSize=300', '/v1beta1/publishers/google/models?pageSize=300&pageToken=a%2Fb'],
    ids: ['gemini-3.8-flash', 'gemini-3.8-flash-tts'],
  },
  {
    provider: 'anthropic',
    pages: [
      {
        data: [{ id: 'claude-opus-5-5', created_at: '2026-09-01T00:00:00Z', type: 'model' }],
        has_more: true,
        last_id: 'claude-opus-5-5',
      },
      { data: [{ id: 'claude-haiku-4-5', created_at: '2025-10-01T00:00:00Z', type: 'model' }], has_more: false },
    ],
    paths: ['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=claude-opus-5-5'],
    ids: ['claude-opus-5-5', 'claude-haiku-4-5'],
  },
];

describe.each(lists)('the list of models of $provider', ({ provider, settings, pages, paths, ids }) => {
  it('is read page by page and returned in the format of OpenAI', async () => {
    const harness = createHarness();
    harness.documents.set(`provider ${workspaceId}/cloud`, {
      ...providerDocument('cloud', provider),
      settings: settings ?? {},
      secrets: JSON.stringify({ api_key: 'key' }),
    });
    harness.script(...pages.map((page) => replyWith(200, page)));
    const sink = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@cloud' }, body: '' });
    expect(sink.status).toBe(200);
    expect(harness.calls.map(({ path }) => path)).toEqual(paths);
    expect((sink.json.data as JsonObject[]).map(({ id, object }) => [id, object])).toEqual(ids.map((id) => [id, 'model']));
  });
});

it.each([
  ['anthropic', { data: [{ id: 'one', display_name: 'Model One' }, { id: 'two' }], has_more: false }],
  ['google', { models: [{ name: 'models/one', displayName: 'Model One' }, { name: 'models/two' }] }],
  [
    'openrouter',
    {
      data: [
        { id: 'one', name: 'Model One' },
        { id: 'two', name: '' },
      ],
    },
  ],
])('GET /models: clients of Anthropic receive the names that %s states, else the ids', async (provider, page) => {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', provider),
    secrets: JSON.stringify({ api_key: 'key' }),
  });
  harness.script(replyWith(200, page));
  const headers = { 'x-svc-provider': '@cloud', 'anthropic-version': '2023-06-01' };
  const sink = await harness.send({ method: 'GET', path: '/v1/models', headers, body: '' });
  expect((sink.json.data as JsonObject[]).map(({ id, display_name: name }) => [id, name])).toEqual([
    ['one', 'Model One'],
    ['two', 'two'],
  ]);
});

it.each([
  ['anthropic', { lifecycle: 'deprecated', line: { id: 'opus' }, max_tokens: 64_000 }, true],
  ['openai', { lifecycle: 'beta', line: 1, max_tokens: 'many', capabilities: ['chat'] }, false],
])('GET /models: clients of Anthropic receive every member that its SDKs require, of %s', async (provider, members, passes) => {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', provider),
    secrets: JSON.stringify({ api_key: 'key' }),
  });
  harness.script(
    replyWith(200, { data: [{ id: 'one', type: 'model', created_at: '2026-01-02T00:00:00Z', ...members }], has_more: false }),
  );
  const headers = { 'x-svc-provider': '@cloud', 'anthropic-version': '2023-06-01' };
  const sink = await harness.send({ method: 'GET', path: '/v1/models', headers, body: '' });
  const unknown = {
    capabilities: null,
    deprecated_at: null,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  };
  expect(sink.json.data).toEqual([
    {
      ...{ type: 'model', id: 'one', display_name: 'one', created_at: expect.any(String), lifecycle: 'active', ...unknown },
      ...(passes ? members : {}),
    },
  ]);
});
