import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { encodeForm } from '../../../../core/pipeline/request/form-data.ts';
import {
  createHarness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { fixtureReader } from '../provider-fixtures.ts';

const fixture = fixtureReader(import.meta.dirname);

function harnessWith(script: Script) {
  const harness = createHarness({ key: { scopes: ['completions.write', 'models.list'] } });
  harness.documents.set(`provider ${workspaceId}/dg`, providerDocument('dg', 'deepgram'));
  harness.script(script);
  return harness;
}

const field = (name: string, value: string) => ({ name, filename: null, contentType: null, body: Buffer.from(value) });
const file = { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.from([82, 73, 70, 70, 255, 0]) };

function transcription(fields: Record<string, string>, parts = [file]) {
  const { contentType, body } = encodeForm([...Object.entries(fields).map(([name, value]) => field(name, value)), ...parts]);
  return { path: '/v1/audio/transcriptions', headers: { 'x-svc-provider': '@dg', 'content-type': contentType }, body };
}

it('deepgram: speech has all parameters except the text in the query, and returns the audio unchanged', async () => {
  const audio = Buffer.from([0xff, 0xf3, 0x00, 0x80]);
  const harness = harnessWith((_call, handler) => {
    handler.onHead(200, ['content-type', 'audio/ogg']);
    handler.onData(audio);
    handler.onEnd();
  });
  const { request } = fixture('speech');
  const reply = await harness.send({ path: '/v1/audio/speech', body: { ...request, model: '@dg/aura-2' } });
  expect([reply.header('content-type'), Buffer.concat(reply.chunks)]).toEqual(['audio/ogg', audio]);
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual([
    'https://api.deepgram.com',
    '/v1/speak?model=aura-2-thalia-en&encoding=opus&container=ogg&speed=1.1',
  ]);
  expect(findHeader(call?.headers ?? [], 'authorization')).toBe('Token sk-stored');
  expect(reply.header('x-svc-dropped-params')).toBe('instructions');
  expect(harness.records).toMatchObject([{ provider: 'deepgram', media: { units: { characters: 12 } } }]);
});

it.each([
  ['json', { text: 'Good morning. Paris.', usage: { type: 'duration', seconds: 2.4 } }],
  ['verbose_json', fixture('transcription').reply],
])('deepgram: a recording is sent unchanged, with the reply in %s', async (format, expected) => {
  const harness = harnessWith(replyWith(200, fixture('transcription').providerReply));
  const reply = await harness.send(transcription({ model: 'nova-3', response_format: format, diarize: 'true' }));
  expect(reply.json).toEqual(expected);
  const [call] = harness.calls;
  expect(call?.path).toBe('/v1/listen?smart_format=true&detect_language=true&model=nova-3&diarize=true');
  expect(findHeader(call?.headers ?? [], 'content-type')).toBe('audio/wav');
  expect(Buffer.from(call?.body as Uint8Array)).toEqual(file.body);
  expect(harness.records).toMatchObject([{ provider: 'deepgram', media: { units: { audio_seconds: 2.4 } } }]);
});

it('deepgram: writes subtitles', async () => {
  const harness = harnessWith(replyWith(200, fixture('transcription').providerReply));
  const reply = await harness.send(transcription({ model: 'nova-3', language: 'en', response_format: 'srt' }));
  expect(reply.text).toBe('1\n00:00:00,100 --> 00:00:00,900\nGood morning.\n\n2\n00:00:01,200 --> 00:00:01,600\nParis.\n\n');
  expect(harness.calls[0]?.path).toBe('/v1/listen?smart_format=true&model=nova-3&language=en');
});

it.each([
  [transcription({ model: 'nova-3' }, []), 'file'],
  [transcription({ model: 'nova-3', stream: 'true' }), 'stream'],
])('deepgram: rejects unsupported transcriptions, naming the field', async (request, param) => {
  const harness = harnessWith(replyWith(200, {}));
  const reply = await harness.send(request);
  expect([reply.status, reply.json]).toMatchObject([400, { error: { param } }]);
  expect(harness.calls).toEqual([]);
});

it('deepgram: lists each model once', async () => {
  const models = {
    stt: [{ canonical_name: 'nova-3-general' }, { canonical_name: 'nova-3-general' }, {}],
    tts: [{ canonical_name: 'aura-2-thalia-en' }],
  };
  const harness = harnessWith(replyWith(200, models));
  const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@dg' }, body: '' });
  expect(reply.json.data).toMatchObject([
    { id: 'nova-3-general', type: 'stt' },
    { id: 'aura-2-thalia-en', type: 'tts' },
  ]);
  expect(harness.calls[0]?.path).toBe('/v1/models');
});
