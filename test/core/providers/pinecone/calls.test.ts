import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);

function harnessWith(reply: Parameters<typeof replyWith>[1]) {
  const harness = createHarness({ key: { scopes: ['completions.write', 'models.list'] } });
  harness.documents.set(`provider ${workspaceId}/pc`, providerDocument('pc', 'pinecone'));
  harness.script(replyWith(200, reply));
  return harness;
}

it.each([
  ['rerank', '/v1/rerank', '/rerank', { media: { units: { search_units: 1 } } }],
  ['embed', '/v1/embeddings', '/embed', { inputTokens: 4 }],
])('pinecone: serves %s', async (name, route, path, record) => {
  const { request, providerRequest, providerReply, reply } = fixture(name);
  const harness = harnessWith(providerReply);
  const replied = await harness.send({ path: route, body: { ...request, model: `@pc/${request.model}` } });
  expect(replied.json).toEqual(reply);
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual(['https://api.pinecone.io', path]);
  expect(findHeader(call?.headers ?? [], 'api-key')).toBe('sk-stored');
  expect(findHeader(call?.headers ?? [], 'x-pinecone-api-version')).toMatch(/^20\d\d-\d\d$/);
  expect(JSON.parse(Buffer.from(call?.body as Uint8Array).toString())).toEqual(providerRequest);
  expect(harness.records).toMatchObject([{ provider: 'pinecone', ...record }]);
});

it('pinecone: lists its models', async () => {
  const harness = harnessWith({
    models: [{ model: 'pinecone-rerank-v0', type: 'rerank', provider_name: 'Pinecone' }, { type: 'embed' }],
  });
  const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@pc' }, body: '' });
  expect(reply.json.data).toMatchObject([
    { id: 'pinecone-rerank-v0', owned_by: 'Pinecone', type: 'rerank', provider: 'pinecone' },
  ]);
  expect(harness.calls[0]?.path).toBe('/models');
});
