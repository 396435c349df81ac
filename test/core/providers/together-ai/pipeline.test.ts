import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { encodeForm } from '../../../../core/pipeline/request/form-data.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

function harness(script: Script): Harness {
  const gateway = createHarness();
  gateway.script(script);
  return gateway;
}

async function send(gateway: Harness, path: string, body: JsonObject | Uint8Array, more: Record<string, string> = {}) {
  const headers = { 'x-svc-provider': 'together-ai', 'x-svc-api-key': gateway.key, authorization: 'Bearer t', ...more };
  return gateway.send({ path, headers, body });
}

describe('together-ai through the pipeline', () => {
  it('makes images', async () => {
    const gateway = harness(replyWith(200, { object: 'list', data: [{ index: 0, url: 'https://example.com/a.png' }] }));
    const reply = await send(gateway, '/v1/images/generations', { model: 'm', prompt: 'p', size: '512x512' });
    expect(reply.json).toMatchObject({ data: [{ url: 'https://example.com/a.png' }] });
    expect(reply.header('x-svc-adapted')).toContain('size->width,height');
    expect(gateway.calls[0]?.path).toBe('/v1/images/generations');
    expect(gateway.records[0]?.media?.units).toEqual({ generated_images: 1 });
  });

  it('reranks, and counts tokens', async () => {
    const results = [{ index: 0, relevance_score: 0.9 }];
    const gateway = harness(replyWith(200, { results, usage: { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 } }));
    await send(gateway, '/v1/rerank', { model: 'm', query: 'q', documents: ['a'] });
    expect(gateway.calls[0]?.path).toBe('/v1/rerank');
    expect(gateway.records[0]?.inputTokens).toBe(7);
  });

  it('speaks, transcribes and translates', async () => {
    const spoken = harness((_call, handler) => {
      handler.onHead(200, ['content-type', 'audio/mpeg']);
      handler.onData(Buffer.from('audio'));
      handler.onEnd();
    });
    const reply = await send(spoken, '/v1/audio/speech', { model: 'cartesia/sonic-2', input: 'Hi', voice: 'v' });
    expect(reply.text).toBe('audio');
    const form = encodeForm([
      { name: 'model', filename: null, contentType: null, body: Buffer.from('openai/whisper-large-v3') },
      { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.alloc(32) },
    ]);
    const heard = harness(replyWith(200, { text: 'Hi', duration: 2 }));
    const translated = harness(replyWith(200, { text: 'Hi' }));
    await send(heard, '/v1/audio/transcriptions', form.body, { 'content-type': form.contentType });
    await send(translated, '/v1/audio/translations', form.body, { 'content-type': form.contentType });
    expect([spoken, heard, translated].map((gateway) => gateway.calls[0]?.path)).toEqual([
      '/v1/audio/speech',
      '/v1/audio/transcriptions',
      '/v1/audio/translations',
    ]);
    expect(heard.records[0]?.media?.units).toEqual({ audio_seconds: 2 });
  });
});
