import { toFile } from 'openai';
import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { parseForm } from '../../../../core/pipeline/request/form-data.ts';
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
  fixturesOf('x-ai').calls.find((one) => one.name === name) as ReturnType<typeof fixturesOf>['calls'][number];

function gateway(script: Script) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/grok`, {
    ...providerDocument('grok', 'x-ai'),
    secrets: JSON.stringify({ api_key: 'xai-stored' }),
  });
  harness.script(script);
  const sent = () => Buffer.from(harness.calls[0]?.body as Uint8Array);
  return { harness, sent, client: openAiOver(harness, { 'x-svc-provider': '@grok' }) };
}

it('x-ai: creates images and reports changed parameters', async () => {
  const { client, harness, sent } = gateway(replyWith(200, fixture('image').providerReply));
  const { data, response } = await client.images.generate(fixture('image').request as never).withResponse();
  expect((data as { data?: unknown[] }).data).toHaveLength(2);
  expect(JSON.parse(sent().toString())).toEqual(fixture('image').providerRequest);
  expect(harness.calls[0]?.path).toBe('/v1/images/generations');
  expect(response.headers.get('x-svc-dropped-params')).toBe('style, quality');
  expect(harness.records[0]).toMatchObject({ media: { units: { generated_images: 2 } } });
});

it('x-ai: edits images of a form', async () => {
  const { client, harness, sent } = gateway(replyWith(200, fixture('image-edit').providerReply));
  const image = await toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'a.png', { type: 'image/png' });
  const edited = await client.images.edit({ model: 'grok-imagine-image', image, prompt: 'a red roof', n: 1 });
  expect(edited.data?.[0]?.url).toBe('https://imgen.x.ai/b.jpeg');
  expect(JSON.parse(sent().toString())).toEqual(fixture('image-edit').providerRequest);
  expect(findHeader(harness.calls[0]?.headers ?? [], 'content-type')).toBe('application/json');
});

it('x-ai: rejects an edit whose mask would be lost', async () => {
  const { client, harness } = gateway(replyWith(200, {}));
  const file = await toFile(Buffer.from('x'), 'a.png', { type: 'image/png' });
  const call = client.images.edit({ model: 'grok-imagine-image', image: file, mask: file, prompt: 'x' });
  await expect(call).rejects.toMatchObject({ status: 400, param: 'mask' });
  expect(harness.calls).toEqual([]);
});

it('x-ai: speech passes byte for byte, and counts characters', async () => {
  const audio = patternBytes(5000);
  const { client, harness, sent } = gateway((_call, handler) => {
    handler.onHead(200, ['content-type', 'audio/mpeg']);
    handler.onData(audio);
    handler.onEnd();
  });
  const { request, providerRequest } = fixture('speech');
  const reply = await client.audio.speech.create(request as never);
  expect(Buffer.compare(Buffer.from(await reply.arrayBuffer()), Buffer.from(audio))).toBe(0);
  expect(JSON.parse(sent().toString())).toEqual(providerRequest);
  expect(harness.calls[0]?.path).toBe('/v1/tts');
  expect(harness.records[0]).toMatchObject({ endpoint: 'createSpeech', media: { units: { characters: 12 } } });
});

it.each([
  ['srt', '1\n00:00:00,000 --> 00:00:00,800\nGood morning.\n\n2\n00:00:01,200 --> 00:00:01,600\nRain.\n\n'],
  ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nGood morning.\n\n00:00:01.200 --> 00:00:01.600\nRain.\n\n'],
  ['text', 'Good morning. Rain.\n'],
] as const)('transcribes to %s, with the file last in the form', async (format, written) => {
  const { client, harness, sent } = gateway(replyWith(200, fixture('transcription').providerReply));
  const file = await toFile(Buffer.from('ID3'), 'a.mp3', { type: 'audio/mpeg' });
  const said = await client.audio.transcriptions.create({
    model: 'grok-stt',
    file,
    language: 'en',
    response_format: format as 'srt',
  });
  expect(said).toBe(written);
  const parts = await parseForm(sent(), findHeader(harness.calls[0]?.headers ?? [], 'content-type') ?? '');
  expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
    ['language', null],
    ['file', 'a.mp3'],
  ]);
  expect(harness.calls[0]?.path).toBe('/v1/stt');
  expect(harness.records[0]).toMatchObject({ media: { units: { audio_seconds: 2.4 } } });
});

it('x-ai: reports that it has no translations', async () => {
  const { client } = gateway(replyWith(200, {}));
  const file = await toFile(Buffer.from('ID3'), 'a.mp3', { type: 'audio/mpeg' });
  const call = client.audio.translations.create({ model: 'grok-stt', file });
  await expect(call).rejects.toMatchObject({ status: 400, message: expect.stringContaining('x-ai') });
});
