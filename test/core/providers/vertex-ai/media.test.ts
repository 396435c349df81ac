import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { geminiMediaSuite } from '../gemini-media.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const base = 'https://europe-west4-aiplatform.googleapis.com/v1/projects/acme-prod/locations/europe-west4';

geminiMediaSuite({
  provider: 'vertex-ai',
  settings: { vertex_region: 'europe-west4', vertex_project_id: 'acme-prod' },
  url: (model, method) => `${base}/publishers/google/models/${model}:${method}`,
});

const fixture = (name: string) =>
  fixturesOf('vertex-ai').calls.find((one) => one.name === name) as {
    request: JsonObject;
    providerReply: JsonObject;
    reply: JsonObject;
  };

function gateway(settings: JsonObject) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', 'vertex-ai'),
    settings,
    secrets: JSON.stringify({ api_key: 'ya29.token' }),
  });
  return harness;
}

describe('rerank', () => {
  it.each([
    ['global', 'https://discoveryengine.googleapis.com', 'global'],
    ['europe-west4', 'https://eu-discoveryengine.googleapis.com', 'eu'],
    ['us-central1', 'https://us-discoveryengine.googleapis.com', 'us'],
    ['asia-east1', 'https://discoveryengine.googleapis.com', 'global'],
  ])('for a provider in %s goes to the ranking API at %s', async (region, origin, location) => {
    const harness = gateway({ vertex_region: region, vertex_project_id: 'acme-prod' });
    const { request, providerReply, reply } = fixture('rerank');
    harness.script(replyWith(200, providerReply));
    const sink = await harness.send({ path: '/v1/rerank', body: { ...request, model: `@cloud/${String(request.model)}` } });
    expect(sink.json.results).toEqual(reply.results);
    expect(harness.calls[0]).toMatchObject({
      origin,
      path: `/v1/projects/acme-prod/locations/${location}/rankingConfigs/default_ranking_config:rank`,
    });
    expect(harness.calls[0]?.headers).toContain('Bearer ya29.token');
    expect(harness.records[0]).toMatchObject({ endpoint: 'rerank', media: { units: { search_units: 1 } } });
  });
});

it('vertex-ai media: embeds text, image and video separately', async () => {
  const harness = gateway({ vertex_region: 'europe-west4', vertex_project_id: 'acme-prod' });
  const { request, providerReply, reply } = fixture('embed-multimodal');
  harness.script(replyWith(200, providerReply));
  const sink = await harness.send({ path: '/v1/embeddings', body: { ...request, model: '@cloud/multimodalembedding@001' } });
  expect(sink.json.data).toEqual(reply.data);
  expect(harness.calls[0]?.path).toContain('/publishers/google/models/multimodalembedding@001:predict');
});

it.each([
  ['/v1/audio/speech', { input: 'x', voice: 'Kore' }],
  ['/v1/images/generations', { prompt: 'x' }],
])('vertex-ai media: %s returns 400 for models of other makers', async (path, body) => {
  const harness = gateway({ vertex_region: 'europe-west4', vertex_project_id: 'acme-prod' });
  const sink = await harness.send({ path, body: { ...body, model: '@cloud/claude-sonnet-4-5@20250929' } });
  expect([sink.status, harness.calls.length]).toEqual([400, 0]);
  expect(sink.json).toMatchObject({ error: { param: 'model', message: expect.stringContaining('claude-sonnet-4-5') } });
});
