import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { until } from '../../support/until.ts';
import { openaiError, reply } from '../../support/upstream/fake-upstream.ts';
import { onePixelPng, spokenBytes } from '../../support/upstream/openai-media-replies.ts';

/** The official client on the routes beside text, through the whole product. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: '@oai' }), maxRetries: 0 });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const audio = () => toFile(patternBytes(400_000), 'speech.mp3', { type: 'audio/mpeg' });
const png = () => toFile(Buffer.from(onePixelPng, 'base64'), 'image.png', { type: 'image/png' });

/** The multipart body that the provider got, parsed by an independent library. */
async function formSent(): Promise<FormData> {
  const { last } = gateway.upstream;
  const headers = { 'content-type': last.header('content-type') ?? '' };
  return new Response(new Uint8Array(last.body), { headers }).formData();
}

async function addModels(slug: string, names: readonly string[]): Promise<void> {
  const models = names.map((name) => ({ slug: name, enabled: true }));
  expect((await gateway.admin.put(`/integrations/${gateway.admin.integrationOf(slug)}/models`, { models })).status).toBe(200);
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

describe('speech with the OpenAI client', () => {
  const request = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Good morning' };

  it('returns the audio byte for byte, with the headers of the gateway', async () => {
    const response = await client.audio.speech.create(request);
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), Buffer.from(spokenBytes))).toBe(0);
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(response.headers.get('x-svc-provider')).toBe('openai');
    expect(gateway.upstream.last.text).toBe(JSON.stringify(request));
    expect(gateway.upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
  });

  it('streams events on request', async () => {
    const response = await gateway.call('/audio/speech', {
      headers: { 'x-svc-provider': '@oai' },
      body: { ...request, stream_format: 'sse' },
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toMatch(/speech\.audio\.delta[\s\S]*speech\.audio\.done/);
  });

  it('raises the provider’s error', async () => {
    gateway.upstream.once('/v1/audio/speech', openaiError(400, 'no such voice', 'invalid_voice'));
    const error = await client.audio.speech.create(request).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.error).toMatchObject({ message: 'openai error: no such voice', code: 'invalid_voice' });
  });
});

describe('transcriptions and translations', () => {
  it('send the audio and return the text', async () => {
    const result = await client.audio.transcriptions.create({ file: await audio(), model: 'whisper-1' });
    expect(result.text).toBe('Good morning');
    const form = await formSent();
    expect(form.get('model')).toBe('whisper-1');
    const file = form.get('file') as File;
    expect([file.name, file.type]).toEqual(['speech.mp3', 'audio/mpeg']);
    expect(Buffer.compare(Buffer.from(await file.arrayBuffer()), Buffer.from(patternBytes(400_000)))).toBe(0);
  });

  it.each(['text', 'srt', 'vtt'] as const)('return %s as the provider wrote it', async (format) => {
    const result = await client.audio.transcriptions.create({
      file: await audio(),
      model: 'whisper-1',
      response_format: format,
    });
    expect(result).toContain('Good morning\n');
  });

  it('streams events as they come', async () => {
    const stream = await client.audio.transcriptions.create({ file: await audio(), model: 'gpt-4o-transcribe', stream: true });
    const events = await collect(stream);
    expect(events.map((event) => event.type)).toEqual(['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done']);
  });

  it('translates', async () => {
    const result = await client.audio.translations.create({ file: await audio(), model: 'whisper-1' });
    expect(result).toMatchObject({ text: 'In English' });
  });

  it('stream a form that is too large to buffer, its model without the slug', async () => {
    const big = patternBytes(5_000_000);
    const form = new FormData();
    form.append('model', '@oai/whisper-1');
    form.append('file', new Blob([big]), 'long.wav');
    const response = await gateway.call('/audio/transcriptions', { body: form });
    expect([response.status, (await response.json()).text]).toEqual([200, 'Good morning']);
    const sent = await formSent();
    expect(sent.get('model')).toBe('whisper-1');
    const file = sent.get('file') as File;
    expect(Buffer.compare(Buffer.from(await file.arrayBuffer()), Buffer.from(big))).toBe(0);
  });
});

describe('images with the OpenAI client', () => {
  it('can be generated, plain and streamed', async () => {
    const plain = await client.images.generate({ model: 'gpt-image-1', prompt: 'a lighthouse', n: 2 });
    expect(plain.data?.map((image) => image.b64_json)).toEqual([onePixelPng, onePixelPng]);
    const events = await collect(
      await client.images.generate({ model: 'gpt-image-1', prompt: 'a lighthouse', stream: true, partial_images: 1 }),
    );
    expect(events.map((event) => event.type)).toEqual(['image_generation.partial_image', 'image_generation.completed']);
  });

  it('can be edited, plain and streamed, with all images and the mask', async () => {
    const request = { model: 'gpt-image-1', prompt: 'a red roof', image: [await png(), await png()], mask: await png() };
    expect((await client.images.edit(request)).data).toHaveLength(1);
    const form = await formSent();
    expect(form.getAll('image[]')).toHaveLength(2);
    expect((form.get('mask') as File).type).toBe('image/png');
    const events = await collect(await client.images.edit({ ...request, stream: true }));
    expect(events.map((event) => event.type)).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  });

  it('can be edited from unchanged JSON', async () => {
    const body = { model: 'gpt-image-1', prompt: 'a red roof', images: [{ image_url: `data:image/png;base64,${onePixelPng}` }] };
    const response = await gateway.call('/images/edits', { headers: { 'x-svc-provider': '@oai' }, body });
    expect(response.status).toBe(200);
    expect(gateway.upstream.last.json()).toEqual(body);
  });

  it('can be varied', async () => {
    expect((await client.images.createVariation({ image: await png(), n: 3 })).data).toHaveLength(3);
  });
});

describe('a form of the OpenAI client', () => {
  it('is sent to the next target when the first fails, byte for byte the same', async () => {
    const apiKey = await gateway.keyFor({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@oai', retry: { attempts: 1 } }, { provider: '@oai' }],
    });
    const bodies: string[] = [];
    gateway.upstream.on(
      '/v1/audio/transcriptions',
      {
        when: 'body',
        run: (exchange) => {
          bodies.push(exchange.request.sha256);
          return reply(503, 'not now').run(exchange);
        },
      },
      2,
    );
    const fallback = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
    const { data, response } = await fallback.audio.transcriptions
      .create({ file: await audio(), model: 'whisper-1' })
      .withResponse();
    expect(data.text).toBe('Good morning');
    expect(response.headers.get('x-svc-last-used-option-index')).toBe('config.targets[1]');
    bodies.push(gateway.upstream.last.sha256);
    expect(new Set(bodies).size).toBe(1);
    expect(gateway.upstream.requests).toHaveLength(3);
  });

  it('is routed by its fields', async () => {
    const apiKey = await gateway.keyFor({
      strategy: {
        mode: 'conditional',
        conditions: [{ query: { 'params.language': { $eq: 'de' } }, then: 'german' }],
        default: 'other',
      },
      targets: [
        { name: 'german', provider: '@oai', override_params: { model: 'whisper-german', prompt: 'auf Deutsch' } },
        { name: 'other', provider: '@oai' },
      ],
    });
    const routed = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
    await routed.audio.transcriptions.create({ file: await audio(), model: 'whisper-1', language: 'de' });
    const german = await formSent();
    expect([german.get('model'), german.get('prompt'), german.get('language')]).toEqual(['whisper-german', 'auf Deutsch', 'de']);
    expect((german.get('file') as File).size).toBe(400_000);
    await routed.audio.transcriptions.create({ file: await audio(), model: 'whisper-1', language: 'en' });
    expect((await formSent()).get('model')).toBe('whisper-1');
  });

  it('is rejected with 400 if malformed, and so is JSON instead of a form', async () => {
    const headers = { 'x-svc-provider': '@oai' };
    for (const init of [
      { headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' }, body: 'no form at all' },
      { headers: { ...headers, 'content-type': 'multipart/form-data' }, body: 'no boundary' },
      { headers, body: { model: 'whisper-1' } },
    ]) {
      const response = await gateway.call('/audio/transcriptions', init);
      expect(response.status).toBe(400);
      expect((await response.json()).error.type).toBe('invalid_request_error');
    }
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

describe('other routes of the OpenAI client', () => {
  it('include moderations', async () => {
    const result = await client.moderations.create({ model: 'omni-moderation-latest', input: 'I will hurt you' });
    expect(result.results[0]?.flagged).toBe(true);
  });

  it('return an error with provider and function if the provider lacks them', async () => {
    const response = await gateway.call('/moderations', { headers: { 'x-svc-provider': '@ant' }, body: { input: 'x' } });
    expect(response.status).toBe(400);
    expect((await response.json()).error.message).toMatch(
      /^POST .v1.moderations is not supported by anthropic\. Use another provider, or a path below .v1.proxy/,
    );
  });
});

describe('model lists of the OpenAI client', () => {
  it('are those of the named provider, in one format, with its type', async () => {
    const models = await collect(await client.models.list());
    expect(models.map((model) => model.id)).toContain('gpt-4o-mini');
    expect(models[0]).toMatchObject({ object: 'model', provider: 'openai', owned_by: 'system' });
  });

  it('are the catalogue of the workspace without a provider, and a part of it on request', async () => {
    // Providers on hosts of their own list the models that were added to their integration.
    await addModels('oai', ['gpt-4o-mini']);
    await addModels('ant', ['claude-sonnet-5', 'claude-haiku-5']);
    const whole = await (await gateway.call('/models')).json();
    const ids: string[] = whole.data.map((model: { id: string }) => model.id);
    expect(whole.total_count).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['@mock/echo', '@oai/gpt-4o-mini']));
    expect(ids.some((id) => id.startsWith('@ant/claude'))).toBe(true);
    const headers = { 'x-svc-provider': '@ant', 'x-svc-fetch-integrated-models': 'true' };
    const part = await (await gateway.call('/models?limit=2&sort=name&order=desc', { headers })).json();
    expect(part.data.map((model: { slug: string }) => model.slug)).toHaveLength(2);
    expect(part.data.every((model: { id: string }) => model.id.startsWith('@ant/'))).toBe(true);
    expect(gateway.upstream.requests).toHaveLength(0);
    const bad = await gateway.call('/models?limit=many');
    expect([bad.status, (await bad.json()).error.param]).toEqual([400, 'limit']);
  });

  it('include a new provider as soon as its change has arrived', async () => {
    await gateway.call('/models');
    await gateway.admin.createUpstream('later', gateway.upstream.openaiHost, { key: 'sk-later' });
    await addModels('later', ['gpt-4o-mini']);
    await until(async () => (await (await gateway.call('/models?provider=@later')).json()).total_count > 0);
  });

  it('have entries of the catalogue that SDKs retrieve by their ids, escaped or not', async () => {
    await addModels('oai', ['gpt-4o-mini']);
    await until(async () => (await gateway.call('/models/@oai/gpt-4o-mini')).ok);
    const entry = { id: '@oai/gpt-4o-mini', object: 'model', provider: 'oai' };
    expect(await client.models.retrieve('@oai/gpt-4o-mini')).toMatchObject(entry);
    const ofAnthropic = await gateway.call('/models/%40oai%2Fgpt-4o-mini', { headers: { 'anthropic-version': '2023-06-01' } });
    expect(await ofAnthropic.json()).toMatchObject({ type: 'model', id: '@oai/gpt-4o-mini' });
    const missing = await gateway.call('/models/@oai/none');
    expect([missing.status, (await missing.json()).error.message]).toEqual([
      404,
      'The workspace has no model @oai/none. GET /v1/models lists its models.',
    ]);
  });

  it('have the format of Anthropic for its clients, and single models pass through', async () => {
    const list = await (await gateway.call('/models', { headers: { 'anthropic-version': '2023-06-01' } })).json();
    expect(list).toMatchObject({ has_more: false });
    expect(list.data[0]).toMatchObject({ type: 'model' });
    gateway.upstream.once('/v1/models/gpt-4o', reply(200, { id: 'gpt-4o', object: 'model', owned_by: 'system' }));
    expect((await client.models.retrieve('gpt-4o')).id).toBe('gpt-4o');
    gateway.upstream.once('/v1/models/ft:x', reply(200, { id: 'ft:x', object: 'model', deleted: true }));
    expect(await client.models.delete('ft:x')).toEqual({ id: 'ft:x', object: 'model', deleted: true });
  });
});
