import { expect, it } from 'vitest';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);

it.each([
  ['voyage', 'voyage-embeddings', '/v1/embeddings', '/v1/embeddings'],
  ['voyage', 'voyage-embeddings-multimodal', '/v1/embeddings', '/v1/multimodalembeddings'],
  ['voyage', 'voyage-rerank', '/v1/rerank', '/v1/rerank'],
  ['jina', 'jina-embeddings', '/v1/embeddings', '/v1/embeddings'],
  ['jina', 'jina-embeddings-images', '/v1/embeddings', '/v1/embeddings'],
  ['jina', 'jina-rerank', '/v1/rerank', '/v1/rerank'],
])('%s serves %s', async (provider, name, route, path) => {
  const harness = createHarness();
  const { request, providerRequest, providerReply, reply, usage } = fixture(name);
  harness.script(replyWith(200, providerReply));
  const headers = { 'x-svc-provider': provider, authorization: 'Bearer key' };
  const replied = await harness.send({ path: route, headers, body: request });
  expect([replied.status, replied.json]).toEqual([200, reply]);
  expect(harness.calls[0]?.path).toBe(path);
  expect(JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString())).toEqual(providerRequest);
  expect(harness.records).toMatchObject([{ provider, inputTokens: usage.inputTokens }]);
});
