import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { readWav } from '../../../core/formats/media/wav.ts';
import { createHarness, providerDocument, replyWith, type Script, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../support/clients/clients-over-harness.ts';
import { eventsOfText } from './event-stream-text.ts';
import { fixturesOf } from './provider-fixtures.ts';

/** The expected URL of a provider's calls, including the method of the model. */
export interface GeminiMediaPlace {
  readonly provider: 'google' | 'vertex-ai';
  readonly settings: JsonObject;
  readonly url: (model: string, method: string) => string;
}

/** Tests Gemini's media with OpenAI's client through the real pipeline: call once for each provider that hosts Gemini. */
export function geminiMediaSuite({ provider, settings, url }: GeminiMediaPlace): void {
  const { calls: cases } = fixturesOf(provider);
  const fixture = (name: string) => cases.find((one) => one.name === name) as (typeof cases)[number];
  const viaCloud = { 'x-svc-provider': '@cloud' };

  function gateway(...scripts: Script[]) {
    const harness = createHarness();
    harness.documents.set(`provider ${workspaceId}/cloud`, {
      ...providerDocument('cloud', provider),
      settings,
      secrets: JSON.stringify({ api_key: 'AIzaStored' }),
    });
    harness.script(...scripts);
    const sent = (): JsonObject => JSON.parse(Buffer.from(harness.calls.at(-1)?.body as Uint8Array).toString());
    const url = (): string => `${harness.calls.at(-1)?.origin}${harness.calls.at(-1)?.path}`;
    return { harness, client: openAiOver(harness, viaCloud), sent, place: url };
  }
  const stream =
    (...events: JsonObject[]): Script =>
    (_call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      for (const event of events) handler.onData(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
      handler.onEnd();
    };
  const spoken = (mimeType: string, bytes: Uint8Array, finishReason?: string): JsonObject => ({
    candidates: [
      { content: { parts: [{ inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') } }] }, finishReason, index: 0 },
    ],
    usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 30 },
  });
  const samples = Buffer.from([1, 2, 3, 4]);

  describe('speech', () => {
    const speech = { model: 'gemini-2.5-flash-preview-tts', voice: 'Puck', input: 'Good morning' } as const;

    it('of bare samples is a WAV file of them', async () => {
      const {
        client,
        harness,
        place: location,
      } = gateway(replyWith(200, spoken('audio/L16;codec=pcm;rate=16000', samples, 'STOP')));
      const reply = await client.audio.speech.create({ ...speech, response_format: 'wav' });
      expect(reply.headers.get('content-type')).toBe('audio/wav');
      expect(readWav(new Uint8Array(await reply.arrayBuffer()))).toEqual({ sampleRate: 16_000, samples });
      expect(location()).toBe(url(speech.model, 'generateContent'));
      expect(harness.records[0]).toMatchObject({ endpoint: 'createSpeech', inputTokens: 4, outputTokens: 30 });
    });

    it('of a WAV file is bare samples where those are asked for', async () => {
      const wav = fixture('speech').providerReply;
      const { client } = gateway(replyWith(200, wav));
      const reply = await client.audio.speech.create({ ...speech, model: 'gemini-3.8-flash-tts', response_format: 'pcm' });
      expect(reply.headers.get('content-type')).toBe('audio/pcm');
      expect((await reply.arrayBuffer()).byteLength).toBe(0);
    });

    it('streams as events, the first with the head of a file', async () => {
      const half = (from: number): Buffer => samples.subarray(from, from + 2);
      const { harness, place: location } = gateway(
        stream(spoken('audio/L16;rate=24000', half(0)), spoken('audio/L16;rate=24000', half(2), 'STOP')),
      );
      const body = { ...speech, response_format: 'wav', stream_format: 'sse' };
      const sink = await harness.send({ path: '/v1/audio/speech', headers: viaCloud, body });
      const events = eventsOfText(sink.text).map(({ data }) => data as JsonObject);
      expect(events.map(({ type }) => type)).toEqual(['speech.audio.delta', 'speech.audio.delta', 'speech.audio.done']);
      const audio = Buffer.concat(events.slice(0, 2).map((event) => Buffer.from(String(event.audio), 'base64')));
      expect(readWav(audio)).toEqual({ sampleRate: 24_000, samples });
      expect(events[2]?.usage).toEqual({ input_tokens: 4, output_tokens: 30, total_tokens: 34 });
      expect(location()).toBe(`${url(speech.model, 'streamGenerateContent')}?alt=sse`);
      expect(harness.records[0]).toMatchObject({ stream: true, outputTokens: 30, outcome: 'success' });
    });

    it.each([
      ['plain', {}, replyWith(200, { promptFeedback: { blockReason: 'SAFETY' } })],
      ['streamed', { stream_format: 'sse' }, stream({ promptFeedback: { blockReason: 'SAFETY' } })],
    ])('that was refused is an error that says why, %s', async (_, more, script) => {
      const { harness } = gateway(script);
      const sink = await harness.send({ path: '/v1/audio/speech', headers: viaCloud, body: { ...speech, ...more } });
      expect(sink.status).toBe(400);
      expect(sink.json).toMatchObject({ error: { message: expect.stringContaining('The prompt was blocked: SAFETY') } });
    });
  });

  describe('transcription', () => {
    const audio = () => toFile(Buffer.from('ID3'), 'a.mp3', { type: 'audio/mpeg' });
    const model = 'gemini-3.8-flash';

    it('takes the file of a form into the call, and counts its tokens', async () => {
      const { request, providerReply, providerRequest, reply } = fixture('transcription');
      const { client, harness, sent, place: location } = gateway(replyWith(200, providerReply));
      const { language, prompt } = request as Record<string, string>;
      const said = await client.audio.transcriptions.create({ model, file: await audio(), language, prompt, temperature: 0 });
      expect(said).toMatchObject({ text: reply.text, usage: reply.usage });
      expect(sent()).toEqual(providerRequest);
      expect(location()).toBe(url(model, 'generateContent'));
      expect(harness.records[0]).toMatchObject({ inputTokens: 70, outputTokens: 6, media: { audioInputTokens: 32 } });
    });

    it.each([
      ['srt', 'application/x-subrip; charset=utf-8', '1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n'],
      ['vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n'],
      ['text', 'text/plain; charset=utf-8', '{"language"'],
    ] as const)('is written as %s', async (format, contentType, begins) => {
      const { client, harness } = gateway(replyWith(200, fixture('transcription-timed').providerReply));
      const { data, response } = await client.audio.transcriptions
        .create({ model, file: await audio(), response_format: format as 'srt' })
        .withResponse();
      expect(response.headers.get('content-type')).toBe(contentType);
      expect(String(data).startsWith(begins)).toBe(true);
      expect(harness.records[0]).toMatchObject({ inputTokens: 60, outputTokens: 40 });
    });

    it('streams as the client of OpenAI reads it', async () => {
      const said = (text: string, finishReason?: string): JsonObject => ({
        candidates: [{ content: { parts: [{ text }] }, finishReason, index: 0 }],
        usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 3 },
      });
      const { client, harness } = gateway(stream(said('Good '), said('morning.', 'STOP')));
      const events = await client.audio.transcriptions.create({ model, file: await audio(), stream: true });
      const seen: unknown[] = [];
      for await (const event of events) seen.push(event);
      expect(seen).toMatchObject([
        { type: 'transcript.text.delta', delta: 'Good ' },
        { type: 'transcript.text.delta', delta: 'morning.' },
        { type: 'transcript.text.done', text: 'Good morning.', usage: { input_tokens: 60, output_tokens: 3 } },
      ]);
      expect(harness.records[0]).toMatchObject({ stream: true, outputTokens: 3 });
    });

    it('of a form without audio names the field', async () => {
      const { harness, client } = gateway(replyWith(200, {}));
      const call = client.audio.transcriptions.create({
        model,
        file: await toFile(Buffer.from('x'), 'a.wav'),
        response_format: 'diarized_json',
      });
      await expect(call).rejects.toMatchObject({ status: 400, param: 'response_format' });
      expect(harness.calls).toEqual([]);
    });

    it('into English is asked for as a translation', async () => {
      const { client, sent } = gateway(replyWith(200, fixture('translation').providerReply));
      const said = await client.audio.translations.create({ model, file: await audio() });
      expect(said.text).toBe('Good morning.');
      expect(sent()).toEqual(fixture('translation').providerRequest);
    });
  });

  describe('images', () => {
    it('are drawn, counted and reported', async () => {
      const { providerReply, providerRequest } = fixture('image');
      const { client, harness, sent, place: location } = gateway(replyWith(200, providerReply));
      const { data: drawn, response } = await client.images
        .generate({ model: 'gemini-3.1-flash-image', prompt: 'a lighthouse', size: '1536x1024', output_format: 'png' })
        .withResponse();
      expect(drawn.data).toEqual([{ b64_json: 'iVBORw0KGgo=' }]);
      expect(response.headers.get('x-svc-adapted')).toBe('size->aspect_ratio:3:2');
      expect(sent()).toEqual(providerRequest);
      expect(location()).toBe(url('gemini-3.1-flash-image', 'generateContent'));
      expect(harness.records[0]).toMatchObject({ media: { imageOutputTokens: 1290, units: { generated_images: 1 } } });
    });

    it('are edited from the files of a form', async () => {
      const { providerReply, providerRequest } = fixture('image-edit');
      const { client, sent } = gateway(replyWith(200, providerReply));
      const image = [
        await toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'a.png', { type: 'image/png' }),
        await toFile(Buffer.from('/9j/4A==', 'base64'), 'b.jpg', { type: 'image/jpeg' }),
      ];
      const edited = await client.images.edit({
        model: 'gemini-3.1-flash-image',
        image,
        prompt: 'a red roof',
        size: '2048x2048' as '1024x1024',
        response_format: 'url',
      });
      expect(edited.data?.[0]?.url).toBe('data:image/jpeg;base64,/9j/4A==');
      expect(sent()).toEqual(providerRequest);
    });

    it('of a stream come whole, with the counts', async () => {
      const { providerReply } = fixture('image');
      const { client, harness } = gateway(stream(providerReply));
      const events = await client.images.generate({ model: 'gemini-3.1-flash-image', prompt: 'a lighthouse', stream: true });
      const seen: unknown[] = [];
      for await (const event of events) seen.push(event);
      expect(seen).toMatchObject([
        { type: 'image_generation.completed', b64_json: 'iVBORw0KGgo=', usage: { output_tokens: 1290 } },
      ]);
      expect(harness.records[0]).toMatchObject({ media: { units: { generated_images: 1 } } });
    });

    it('that were held back are an error that says why', async () => {
      const { client } = gateway(replyWith(200, { candidates: [{ finishReason: 'IMAGE_SAFETY', index: 0 }] }));
      const call = client.images.generate({ model: 'gemini-3.1-flash-image', prompt: 'x' });
      await expect(call).rejects.toMatchObject({ status: 400, message: expect.stringContaining('IMAGE_SAFETY') });
    });

    it('are not edited where a mask would be lost', async () => {
      const { client, harness } = gateway(replyWith(200, {}));
      const file = await toFile(Buffer.from('x'), 'a.png', { type: 'image/png' });
      const call = client.images.edit({ model: 'gemini-3.1-flash-image', image: file, mask: file, prompt: 'x' });
      await expect(call).rejects.toMatchObject({ status: 400, param: 'mask' });
      expect(harness.calls).toEqual([]);
    });

    it('of Imagen are asked for by predict', async () => {
      const { request, providerReply, providerRequest } = fixture('imagen');
      const { client, harness, sent, place: location } = gateway(replyWith(200, providerReply));
      const drawn = await client.images.generate(request as never);
      expect((drawn as { data?: unknown[] }).data).toEqual([{ b64_json: '/9j/4A==', revised_prompt: 'a lighthouse at dusk' }]);
      expect(sent()).toEqual(providerRequest);
      expect(location()).toBe(url('imagen-4.0-generate-001', 'predict'));
      expect(harness.records[0]).toMatchObject({ media: { units: { generated_images: 1 } } });
    });
  });
}
