import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { encodeForm } from '../../../../core/pipeline/request/form-data.ts';
import {
  chatReply,
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';

function harness(script: Script): Harness {
  const gateway = createHarness();
  gateway.script(script);
  return gateway;
}

/** One call with the caller's own key. */
async function send(
  gateway: Harness,
  provider: string,
  path: string,
  body: JsonObject | Uint8Array,
  more: Record<string, string> = {},
) {
  const headers = { 'x-svc-provider': provider, 'x-svc-api-key': gateway.key, authorization: 'Bearer own', ...more };
  return gateway.send({ path, headers, body });
}

const urlOf = ({ calls }: Harness): string => `${calls[0]?.origin}${calls[0]?.path}`;
const keyOf = ({ calls }: Harness, name = 'authorization') => findHeader(calls[0]?.headers ?? [], name);
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('OpenAI-compatible rows through the pipeline', () => {
  it.each([
    ['bytez', {}, 'https://api.bytez.com/models/v2/openai/v1/chat/completions'],
    ['byteplus', { 'x-svc-byteplus-region': 'eu-west-1' }, 'https://ark.eu-west.bytepluses.com/api/v3/chat/completions'],
    [
      'cortex',
      { 'x-svc-snowflake-account': 'acme-eu' },
      'https://acme-eu.snowflakecomputing.com/api/v2/cortex/v1/chat/completions',
    ],
    ['lightning-ai', {}, 'https://lightning.ai/api/v1/chat/completions'],
    ['minimax', {}, 'https://api.minimax.io/v1/chat/completions'],
  ])('%s serves chats at its address', async (provider, more: Record<string, string>, url) => {
    const gateway = harness(replyWith(200, chatReply('hello')));
    const reply = await send(gateway, provider, '/v1/chat/completions', chat, more);
    expect(reply.json).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
    expect([urlOf(gateway), keyOf(gateway)]).toEqual([url, 'Bearer own']);
  });

  it('modal receives the token of its proxy from the client', async () => {
    const gateway = harness(replyWith(200, chatReply('hello')));
    const more = { 'x-svc-custom-host': 'https://me--chat.modal.run/v1', 'modal-key': 'wk-1', 'modal-secret': 'ws-1' };
    expect((await send(gateway, 'modal', '/v1/chat/completions', chat, more)).status).toBe(200);
    expect([keyOf(gateway, 'modal-key'), keyOf(gateway, 'modal-secret')]).toEqual(['wk-1', 'ws-1']);
  });

  it.each([
    ['meshy', '/v1/text-to-3d', 'https://api.meshy.ai/openapi/v2/text-to-3d', 'authorization', 'Bearer own'],
    ['replicate', '/v1/predictions', 'https://api.replicate.com/v1/predictions', 'authorization', 'Bearer own'],
    ['tripo3d', '/v1/task', 'https://api.tripo3d.ai/v2/openapi/task', 'authorization', 'Bearer own'],
    ['scenario-ai', '/v1/models', 'https://api.cloud.scenario.com/v1/models', 'authorization', 'Basic b3du'],
    ['qdrant', '/v1/telemetry', 'https://vectors.example.com/telemetry', 'api-key', 'own'],
    ['milvus', '/v1/vectordb/a', 'https://vectors.example.com/vectordb/a', 'authorization', 'Bearer own'],
  ])('%s passes requests through, with its key in the right header', async (provider, path, url, header, value) => {
    const gateway = harness(replyWith(200, { ok: true }));
    const ownHost = provider === 'qdrant' || provider === 'milvus';
    const more: Record<string, string> = ownHost ? { 'x-svc-custom-host': 'https://vectors.example.com' } : {};
    const reply = await send(gateway, provider, path, { a: 1 }, more);
    expect(reply.json).toEqual({ ok: true });
    expect([urlOf(gateway), keyOf(gateway, header)]).toEqual([url, value]);
  });

  it('providers without a function return 400 with the function and their name', async () => {
    const gateway = harness(replyWith(200, {}));
    const reply = await send(gateway, 'replicate', '/v1/chat/completions', chat);
    expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
    expect(reply.text).toContain('replicate');
  });

  it('deepinfra makes and edits images, speaks, transcribes and translates', async () => {
    const image = replyWith(200, { created: 1, data: [{ b64_json: 'aGk=' }] });
    const form = encodeForm([
      { name: 'model', filename: null, contentType: null, body: Buffer.from('openai/whisper-large-v3') },
      { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.alloc(32) },
    ]);
    const asForm = { 'content-type': form.contentType };
    const calls: [string, Script, JsonObject | Uint8Array, Record<string, string>, JsonObject][] = [
      ['/images/generations', image, { model: 'm', prompt: 'p' }, {}, { generated_images: 1 }],
      ['/images/edits', image, form.body, asForm, { generated_images: 1 }],
      ['/audio/speech', replyWith(200, {}), { model: 'm', input: 'Hi', voice: 'v' }, {}, { characters: 2 }],
      ['/audio/transcriptions', replyWith(200, { text: 'Hi', duration: 2 }), form.body, asForm, { audio_seconds: 2 }],
      ['/audio/translations', replyWith(200, { text: 'Hi', duration: 2 }), form.body, asForm, { audio_seconds: 2 }],
    ];
    for (const [path, script, body, more, units] of calls) {
      const gateway = harness(script);
      const reply = await send(gateway, 'deepinfra', `/v1${path}`, body, more);
      expect([path, reply.status, urlOf(gateway)]).toEqual([path, 200, `https://api.deepinfra.com/v1/openai${path}`]);
      expect(gateway.records[0]?.media?.units).toEqual(units);
    }
  });

  it('fal-ai runs the named model, and byteplus creates one vector of one text', async () => {
    const drawn = harness(replyWith(200, { images: [{ url: 'https://fal.media/a.png' }] }));
    const reply = await send(drawn, 'fal-ai', '/v1/images/generations', { model: 'fal-ai/flux/dev', prompt: 'p' });
    expect(reply.json).toMatchObject({ data: [{ url: 'https://fal.media/a.png' }] });
    expect([urlOf(drawn), keyOf(drawn)]).toEqual(['https://fal.run/fal-ai/flux/dev', 'Key own']);
    const embedded = harness(
      replyWith(200, { data: { embedding: [1], object: 'embedding' }, usage: { prompt_tokens: 2, total_tokens: 2 } }),
    );
    const vector = await send(embedded, 'byteplus', '/v1/embeddings', { model: 'm', input: 'a' });
    expect(vector.json).toMatchObject({ data: [{ index: 0, embedding: [1] }] });
    expect(embedded.records[0]?.inputTokens).toBe(2);
  });

  it('a stored key of cortex is sent to no other account', async () => {
    const gateway = harness(replyWith(200, chatReply('hello')));
    gateway.documents.set(`provider ${workspaceId}/snow`, {
      ...providerDocument('snow', 'cortex'),
      settings: { snowflake_account: 'acme-eu' },
      secrets: '{"api_key":"pat"}',
    });
    const headers = { 'x-svc-provider': '@snow', 'x-svc-snowflake-account': 'thief' };
    const reply = await gateway.send({ headers, body: chat });
    expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
  });
});
