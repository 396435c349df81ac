import { toFile } from 'openai';
import { expect, it } from 'vitest';
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
  fixturesOf('groq').calls.find((one) => one.name === name) as ReturnType<typeof fixturesOf>['calls'][number];

function gateway(script: Script) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/fast`, {
    ...providerDocument('fast', 'groq'),
    secrets: JSON.stringify({ api_key: 'gsk_stored' }),
  });
  harness.script(script);
  const url = () => `${harness.calls[0]?.origin}${harness.calls[0]?.path}`;
  return { harness, place: url, client: openAiOver(harness, { 'x-svc-provider': '@fast' }) };
}

it('groq: speech passes byte for byte, and counts characters', async () => {
  const audio = patternBytes(3000);
  const {
    client,
    harness,
    place: url,
  } = gateway((_call, handler) => {
    handler.onHead(200, ['content-type', 'audio/wav']);
    handler.onData(audio);
    handler.onEnd();
  });
  const reply = await client.audio.speech.create(fixture('speech').request as never);
  expect(Buffer.compare(Buffer.from(await reply.arrayBuffer()), Buffer.from(audio))).toBe(0);
  expect(url()).toBe('https://api.groq.com/openai/v1/audio/speech');
  expect(harness.records[0]).toMatchObject({ endpoint: 'createSpeech', media: { units: { characters: 23 } } });
});

it.each(['transcriptions', 'translations'] as const)(
  '%s: groq gets the form unchanged, and seconds are counted',
  async (route) => {
    const { client, harness, place: url } = gateway(replyWith(200, fixture('transcription').providerReply));
    const file = await toFile(Buffer.from('ID3'), 'a.mp3', { type: 'audio/mpeg' });
    const params = { model: 'whisper-large-v3-turbo', file, response_format: 'verbose_json' } as const;
    const said = await client.audio[route].create(params);
    expect(said.text).toBe('Good morning');
    expect(url()).toBe(`https://api.groq.com/openai/v1/audio/${route}`);
    expect(harness.records[0]).toMatchObject({ media: { units: { audio_seconds: 2.4 } } });
  },
);

it('groq: passes responses in both directions', async () => {
  const { client, harness, place: url } = gateway(replyWith(200, fixture('response').providerReply));
  const reply = await client.responses.create(fixture('response').request as never);
  expect(reply.id).toBe(fixture('response').providerReply.id);
  expect(url()).toBe('https://api.groq.com/openai/v1/responses');
  expect(harness.records[0]?.outputTokens).toBeGreaterThan(0);
});

it('groq: names itself if it lacks a function', async () => {
  const { client, harness } = gateway(replyWith(200, {}));
  await expect(client.images.generate({ model: 'x', prompt: 'x' })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('POST /v1/images/generations is not supported by groq'),
  });
  expect(harness.calls).toEqual([]);
});
