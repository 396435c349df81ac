import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { encodeForm, parseForm } from '../../../../core/pipeline/request/form-data.ts';
import {
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';

const headers = { 'x-svc-provider': '@foundry' };

function harness(script: Script): Harness {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/foundry`, {
    ...providerDocument('foundry', 'azure-ai'),
    settings: { azure_foundry_url: 'https://contoso.services.ai.azure.com', azure_auth_mode: 'default' },
    secrets: '{"api_key":"az-key"}',
  });
  gateway.script(script);
  return gateway;
}

const sentTo = (gateway: Harness): string => `${gateway.calls[0]?.origin}${gateway.calls[0]?.path}`;

describe('azure-ai through the pipeline', () => {
  it('reranks and runs OCR through the APIs of model makers, with the key as bearer token', async () => {
    const ranked = harness(
      replyWith(200, { results: [{ index: 0, relevance_score: 0.9 }], meta: { billed_units: { search_units: 1 } } }),
    );
    const query = { model: 'Cohere-rerank-v4.0-pro', query: 'roof', documents: ['a'] };
    expect((await ranked.send({ path: '/v1/rerank', headers, body: query })).status).toBe(200);
    const read = harness(replyWith(200, { pages: [{ index: 0, markdown: 'x' }], usage_info: { pages_processed: 2 } }));
    const document = { type: 'document_url', document_url: 'data:application/pdf;base64,AA==' };
    await read.send({ path: '/v1/ocr', headers, body: { model: 'mistral-document-ai-2512', document } });
    expect([ranked, read].map(sentTo)).toEqual([
      'https://contoso.services.ai.azure.com/providers/cohere/v2/rerank',
      'https://contoso.services.ai.azure.com/providers/mistral/azure/ocr',
    ]);
    expect(findHeader(ranked.calls[0]?.headers ?? [], 'authorization')).toBe('Bearer az-key');
    expect(findHeader(ranked.calls[0]?.headers ?? [], 'api-key')).toBeUndefined();
    expect([ranked, read].map((gateway) => gateway.records[0]?.media?.units)).toEqual([{ search_units: 1 }, { pages: 2 }]);
  });

  it('makes images, and sends a JSON edit as a form', async () => {
    const image = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] };
    const made = harness(replyWith(200, image));
    await made.send({ path: '/v1/images/generations', headers, body: { model: 'FLUX.2-pro', prompt: 'p', size: '512x512' } });
    expect(sentTo(made)).toMatch(/\/providers\/blackforestlabs\/v1\/flux-2-pro\?api-version=preview$/);
    const edited = harness(replyWith(200, image));
    const body = { model: 'FLUX.1-Kontext-pro', prompt: 'p', image: 'iVBORw0KGgo=' };
    const reply = await edited.send({ path: '/v1/images/edits', headers, body });
    expect(reply.header('x-svc-adapted')).toContain('json->form');
    const call = edited.calls[0];
    const parts = await parseForm(Buffer.from(call?.body as Uint8Array), findHeader(call?.headers ?? [], 'content-type') ?? '');
    expect(parts.map((part) => part.name)).toEqual(['model', 'prompt', 'image']);
    expect(edited.records[0]?.media?.units).toEqual({ generated_images: 1 });
  });

  it('serves speech, transcriptions and translations at the version-free API of the resource', async () => {
    const spoken = harness((_call, handler) => {
      handler.onHead(200, ['content-type', 'audio/mpeg']);
      handler.onData(Buffer.from('audio'));
      handler.onEnd();
    });
    const reply = await spoken.send({ path: '/v1/audio/speech', headers, body: { model: 'tts', input: 'Hi', voice: 'alloy' } });
    expect(reply.text).toBe('audio');
    const form = encodeForm([
      { name: 'model', filename: null, contentType: null, body: Buffer.from('whisper') },
      { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.alloc(32) },
    ]);
    const asForm = { headers: { ...headers, 'content-type': form.contentType }, body: form.body };
    const heard = harness(replyWith(200, { text: 'Hi', duration: 2 }));
    await heard.send({ path: '/v1/audio/transcriptions', ...asForm });
    const translated = harness(replyWith(200, { text: 'Hi' }));
    await translated.send({ path: '/v1/audio/translations', ...asForm });
    expect([spoken, heard, translated].map((gateway) => gateway.calls[0]?.path)).toEqual([
      '/openai/v1/audio/speech',
      '/openai/v1/audio/transcriptions',
      '/openai/v1/audio/translations',
    ]);
    expect(heard.records[0]?.media?.units).toEqual({ audio_seconds: 2 });
  });

  it('embeds and lists models', async () => {
    const list = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    };
    const embedded = harness(replyWith(200, list));
    expect((await embedded.send({ path: '/v1/embeddings', headers, body: { model: 'embed-v4', input: 'a' } })).status).toBe(200);
    const listed = harness(replyWith(200, { object: 'list', data: [{ id: 'DeepSeek-V3.1', object: 'model', created: 1 }] }));
    const reply = await listed.send({ method: 'GET', path: '/v1/models', headers });
    expect(listed.calls[0]?.path).toBe('/openai/v1/models');
    expect(reply.json).toMatchObject({ data: [{ id: 'DeepSeek-V3.1' }] });
  });

  it('returns 400 with provider and function for missing functions', async () => {
    const gateway = harness(replyWith(200, {}));
    const reply = await gateway.send({ path: '/v1/moderations', headers, body: { input: 'a' } });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('azure-ai');
    expect(gateway.calls).toEqual([]);
  });
});
