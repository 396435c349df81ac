import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

const headers = { 'x-svc-provider': 'fireworks-ai', authorization: 'Bearer fw-key' };
const flux = 'accounts/fireworks/models/flux-1-schnell-fp8';

function harness(script: Script): Harness {
  const gateway = createHarness();
  gateway.script(script);
  return gateway;
}

async function send(gateway: Harness, path: string, body: JsonObject) {
  return gateway.send({ path, headers: { ...headers, 'x-svc-api-key': gateway.key }, body });
}

describe('fireworks-ai through the pipeline', () => {
  const image = Buffer.from('jpeg bytes');
  const asItIs: Script = (_call, handler) => {
    handler.onHead(200, ['content-type', 'image/jpeg']);
    handler.onData(image);
    handler.onEnd();
  };
  const replies: [string, Script][] = [
    ['as it is', asItIs],
    ['in JSON', replyWith(200, { base64: [image.toString('base64')], finishReason: 'SUCCESS', seed: 1 })],
  ];

  it.each(replies)('converts an image that comes %s to a list', async (_, script) => {
    const gateway = harness(script);
    const reply = await send(gateway, '/v1/images/generations', { model: flux, prompt: 'p', size: '1024x1024' });
    expect(reply.json).toMatchObject({ data: [{ b64_json: image.toString('base64') }] });
    expect(gateway.calls[0]?.path).toBe(`/inference/v1/workflows/${flux}/text_to_image`);
    expect(gateway.records[0]?.media?.units).toEqual({ generated_images: 1 });
  });

  it('reranks', async () => {
    const data = [{ index: 1, relevance_score: 0.8, document: 'b' }];
    const gateway = harness(replyWith(200, { object: 'list', model: 'm', data, usage: { prompt_tokens: 9, total_tokens: 9 } }));
    const reply = await send(gateway, '/v1/rerank', { model: 'm', query: 'q', documents: ['a', 'b'] });
    expect(reply.json).toMatchObject({ results: [{ index: 1, document: { text: 'b' } }] });
    expect(gateway.calls[0]?.path).toBe('/inference/v1/rerank');
    expect(gateway.records[0]?.inputTokens).toBe(9);
  });
});
