import { toFile } from 'openai';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  createHarness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';
import { patternBytes } from '../../../support/samples/pattern-bytes.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const fixture = (name: string) =>
  fixturesOf('openrouter').calls.find((one) => one.name === name) as ReturnType<typeof fixturesOf>['calls'][number];

function gateway(script: Script) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/router`, {
    ...providerDocument('router', 'openrouter'),
    secrets: JSON.stringify({ api_key: 'sk-or-stored' }),
  });
  harness.script(script);
  const sent = (): JsonObject => JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString());
  const url = () => `${harness.calls[0]?.origin}${harness.calls[0]?.path}`;
  return { harness, sent, place: url, client: openAiOver(harness, { 'x-svc-provider': '@router' }) };
}

it.each([
  ['decision', '/v1/decisions', '/api/alpha/decisions', { inputTokens: 45, outputTokens: 0 }],
  ['rerank', '/v1/rerank', '/api/v1/rerank', { media: { units: { search_units: 1 } } }],
  ['embeddings', '/v1/embeddings', '/api/v1/embeddings', { inputTokens: 2 }],
])('openrouter: passes a %s in both directions and counts it', async (name, path, provided, record) => {
  const { request, providerRequest, providerReply } = fixture(name);
  const { harness, sent, place: url } = gateway(replyWith(200, providerReply));
  const sink = await harness.send({ path, headers: { 'x-svc-provider': '@router' }, body: request });
  expect(sink.json).toEqual(providerReply);
  expect(sent()).toEqual(providerRequest);
  expect(url()).toBe(`https://openrouter.ai${provided}`);
  expect(harness.records[0]).toMatchObject(record);
});

it('openrouter: creates images, with image tokens counted separately', async () => {
  const { client, harness, sent, place: url } = gateway(replyWith(200, fixture('image').providerReply));
  const drawn = await client.images.generate(fixture('image').request as never);
  expect((drawn as { data?: unknown[] }).data).toHaveLength(1);
  expect(sent()).toEqual(fixture('image').providerRequest);
  expect(url()).toBe('https://openrouter.ai/api/v1/images');
  expect(harness.records[0]).toMatchObject({ media: { imageOutputTokens: 1290, units: { generated_images: 1 } } });
});

it('openrouter: edits images of a form as generations with references', async () => {
  const { client, sent, place: url } = gateway(replyWith(200, fixture('image-edit').providerReply));
  const image = await toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'a.png', { type: 'image/png' });
  await client.images.edit({ model: 'google/gemini-3.1-flash-image', image, prompt: 'a red roof', n: 1, size: 'auto' });
  expect(sent()).toEqual(fixture('image-edit').providerRequest);
  expect(url()).toBe('https://openrouter.ai/api/v1/images');
});

it('openrouter: speech passes byte for byte', async () => {
  const audio = patternBytes(3000);
  const { client, place: url } = gateway((_call, handler) => {
    handler.onHead(200, ['content-type', 'audio/mpeg']);
    handler.onData(audio);
    handler.onEnd();
  });
  const reply = await client.audio.speech.create(fixture('speech').request as never);
  expect(Buffer.compare(Buffer.from(await reply.arrayBuffer()), Buffer.from(audio))).toBe(0);
  expect(url()).toBe('https://openrouter.ai/api/v1/audio/speech');
});

it('openrouter: transcribes from the unchanged form, and counts seconds', async () => {
  const { client, harness, place: url } = gateway(replyWith(200, fixture('transcription').providerReply));
  const file = await toFile(Buffer.from('ID3'), 'a.mp3', { type: 'audio/mpeg' });
  const said = await client.audio.transcriptions.create({ model: 'openai/whisper-large-v3', file });
  expect(said.text).toBe('Good morning');
  expect(url()).toBe('https://openrouter.ai/api/v1/audio/transcriptions');
  expect(harness.records[0]).toMatchObject({ media: { units: { audio_seconds: 2.4 } } });
});

it('openrouter: names itself if it lacks a function', async () => {
  const { harness } = gateway(replyWith(200, {}));
  const sink = await harness.send({ path: '/v1/moderations', headers: { 'x-svc-provider': '@router' }, body: { input: 'x' } });
  expect([sink.status, harness.calls.length]).toEqual([400, 0]);
  expect(sink.json).toMatchObject({ error: { message: expect.stringContaining('openrouter. Use another provider') } });
});
