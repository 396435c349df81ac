import { describe, expect, it } from 'vitest';
import { BodyMemory } from '../../../core/contract/values/bodies/body-memory.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { findHeader, type RequestBody } from '../../../core/contract/values/http/http.ts';
import { encodeForm, parseForm } from '../../../core/pipeline/request/form-data.ts';
import { chatReply, createHarness, type Harness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';

const viaOne = { 'x-svc-provider': '@one' };
const speech = { path: '/v1/audio/speech', headers: viaOne, body: { model: 'tts-1', voice: 'alloy', input: 'Grüße 🙂' } };
const file = { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: patternBytes(300_000) };
const field = (name: string, value: string) => ({ name, filename: null, contentType: null, body: Buffer.from(value) });

/** A transcription request with these parts. `chunked` sends no content length. */
function transcription(parts: Parameters<typeof encodeForm>[0], headers: Record<string, string> = viaOne) {
  const { contentType, body } = encodeForm(parts);
  return { path: '/v1/audio/transcriptions', headers: { ...headers, 'content-type': contentType }, body };
}

/** Bytes in pieces, without a content length. */
function pieces(status: number, contentType: string, chunks: readonly Uint8Array[], end: 'end' | 'reset' = 'end'): Script {
  return (_call, handler) => {
    handler.onHead(status, ['content-type', contentType]);
    for (const chunk of chunks) handler.onData(chunk);
    if (end === 'end') handler.onEnd();
    else handler.onError(new GatewayError('upstream_reset'));
  };
}

async function sentBody(harness: Harness): Promise<Buffer> {
  const body = harness.calls.at(-1)?.body;
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  await new Promise<void>((resolve, reject) => {
    (body as RequestBody).pipe(
      { onData: (chunk) => chunks.push(chunk) > 0, onEnd: resolve, onError: reject },
      Number.MAX_SAFE_INTEGER,
    );
  });
  return Buffer.concat(chunks);
}

async function sentParts(harness: Harness) {
  return parseForm(await sentBody(harness), findHeader(harness.calls.at(-1)?.headers ?? [], 'content-type') ?? '');
}

describe('a binary reply', () => {
  it('is streamed chunk by chunk, and billed by the spoken characters', async () => {
    const harness = createHarness();
    const chunks = [patternBytes(10), patternBytes(20)];
    let sentBeforeTheEnd = 0;
    harness.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'audio/mpeg', 'content-length', '30']);
      handler.onData(chunks[0] as Uint8Array);
      sentBeforeTheEnd = reply.bytesSoFar();
      handler.onData(chunks[1] as Uint8Array);
      handler.onEnd();
    });
    const reply = { bytesSoFar: () => 0 };
    const sink = await harness.send({
      ...speech,
      prepare: (made) => (reply.bytesSoFar = () => Buffer.concat(made.chunks).length),
    });
    expect(sentBeforeTheEnd).toBe(10);
    expect(Buffer.compare(Buffer.concat(sink.chunks), Buffer.concat(chunks))).toBe(0);
    expect(harness.records[0]).toMatchObject({
      endpoint: 'createSpeech',
      outcome: 'success',
      model: 'tts-1',
      usageEstimated: false,
      media: { units: { characters: 7 } },
    });
  });

  it('is cut without extra bytes if the provider cuts it', async () => {
    const harness = createHarness();
    harness.script(pieces(200, 'audio/mpeg', [patternBytes(10)], 'reset'));
    const sink = await harness.send(speech);
    expect([Buffer.concat(sink.chunks).length, sink.destroyed]).toEqual([10, true]);
    expect(harness.records[0]).toMatchObject({ outcome: 'cut', errorCode: 'upstream_reset' });
  });

  it('comes from the next target if no byte was sent yet', async () => {
    const harness = createHarness();
    harness.addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    harness.script(
      (_call, handler) => handler.onError(new GatewayError('upstream_connect')),
      pieces(200, 'audio/mpeg', [patternBytes(10)]),
    );
    const sink = await harness.send({ ...speech, headers: { 'x-svc-config': 'pc-two' } });
    expect([sink.status, Buffer.concat(sink.chunks).length]).toEqual([200, 10]);
    expect(sink.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
  });

  it('as an event stream reads tokens from its terminal event, and is an error without one', async () => {
    const harness = createHarness();
    const done = 'data: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":9}}\n\n';
    const delta = 'data: {"type":"speech.audio.delta","audio":"AA=="}\n\n';
    const request = { ...speech, body: { ...speech.body, stream_format: 'sse' } };
    harness.script(pieces(200, 'text/event-stream', [Buffer.from(delta + done)]));
    await harness.send(request);
    expect(harness.records[0]).toMatchObject({ stream: true, inputTokens: 4, outputTokens: 9, media: null });
    harness.script(pieces(200, 'text/event-stream', [Buffer.from(delta)]));
    expect((await harness.send(request)).text).toContain('stream_incomplete');
  });
});

describe('media usage', () => {
  it.each([
    [
      'tokens of audio',
      { text: 'x', usage: { input_tokens: 14, input_token_details: { audio_tokens: 12 }, output_tokens: 5 } },
      {},
      { audioInputTokens: 12, units: {} },
    ],
    ['seconds', { text: 'x', usage: { type: 'duration', seconds: 3 } }, {}, { units: { audio_seconds: 3 } }],
    ['seconds the caller states', { text: 'x' }, { 'x-svc-audio-file-duration': '61.5' }, { units: { audio_seconds: 61.5 } }],
    [
      'seconds of the provider rather than of the caller',
      { text: 'x', duration: 2 },
      { 'x-svc-audio-file-duration': '61' },
      { units: { audio_seconds: 2 } },
    ],
  ])('counts %s', async (_, reply, headers, media) => {
    const harness = createHarness();
    harness.script(replyWith(200, reply));
    await harness.send(transcription([field('model', 'whisper-1'), file], { ...viaOne, ...headers }));
    expect(harness.records[0]).toMatchObject({ endpoint: 'createTranscription', media });
  });

  it('counts images', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, { created: 1, data: [{ url: 'a' }, { url: 'b' }] }));
    await harness.send({ path: '/v1/images/generations', headers: viaOne, body: { model: 'dall-e-2', prompt: 'x', n: 2 } });
    expect(harness.records[0]).toMatchObject({ endpoint: 'imageGenerate', media: { units: { generated_images: 2 } } });
  });
});

describe('a form', () => {
  it('is forwarded with the client’s own bytes', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, { text: 'x' }));
    const request = transcription([file, field('model', 'whisper-1')]);
    await harness.send(request);
    expect(Buffer.compare(await sentBody(harness), Buffer.from(request.body))).toBe(0);
    expect(findHeader(harness.calls[0]?.headers ?? [], 'content-type')).toBe(request.headers['content-type']);
  });

  it('gets defaults, overrides and drops in its text fields, and keeps its files', async () => {
    const harness = createHarness();
    const shaping = {
      override_params: { temperature: 0.5, include: ['a', 'b'] },
      default_params: { language: 'de' },
      drop_params: ['prompt'],
    };
    harness.addConfig('pc-x', { provider: '@one', ...shaping });
    harness.script(replyWith(200, { text: 'x' }));
    const parts = [field('model', '@one/whisper-1'), field('prompt', 'no'), file, field('temperature', '1')];
    await harness.send(transcription(parts, { 'x-svc-config': 'pc-x' }));
    const sent = await sentParts(harness);
    expect(sent.filter((part) => part.filename === null).map((part) => [part.name, String(part.body)])).toEqual([
      ['model', 'whisper-1'],
      ['temperature', '0.5'],
      ['language', 'de'],
      ['include[]', 'a'],
      ['include[]', 'b'],
    ]);
    expect(sent.find((part) => part.filename !== null)).toEqual(file);
  });

  it('above the buffer limit is streamed once, without a retry', async () => {
    const harness = createHarness({ formBytesMax: 100_000 });
    harness.addConfig('pc-r', { provider: '@one', retry: { attempts: 3 } });
    const sizes: number[] = [];
    harness.script(async (call, handler) => {
      (call.body as RequestBody).pipe(
        { onData: (chunk) => sizes.push(chunk.length) > 0, onEnd: () => replyWith(503, 'no')(call, handler), onError: () => {} },
        1e9,
      );
    });
    const request = transcription([field('model', 'whisper-1'), file], { 'x-svc-config': 'pc-r' });
    expect((await harness.send(request)).status).toBe(503);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(request.body.length);
    expect(harness.records[0]).toMatchObject({ model: 'whisper-1' });
    expect(harness.calls).toHaveLength(1);
  });

  it('above the buffer limit cannot be changed: 413 names the change', async () => {
    const harness = createHarness({ formBytesMax: 100_000 });
    harness.addConfig('pc-o', { provider: '@one', override_params: { language: 'de' } });
    const reply = await harness.send(transcription([field('model', 'm'), file], { 'x-svc-config': 'pc-o' }));
    expect(reply.status).toBe(413);
    expect(reply.text).toContain('language has to be changed');
    expect(harness.calls).toHaveLength(0);
  });
});

describe('an image edit for Azure', () => {
  const settings = { azure_resource_name: 'contoso', azure_deployment_id: 'gpt-image-prod', api_key: 'k' };

  it('becomes a form if it came as JSON, with the deployment as its model', async () => {
    const harness = createHarness();
    harness.addConfig('pc-az', { provider: 'azure-openai', ...settings });
    harness.script(replyWith(200, { created: 1, data: [{ b64_json: 'x' }] }));
    const png = patternBytes(100);
    const body = {
      model: 'gpt-image-1',
      prompt: 'p',
      n: 1,
      images: [{ image_url: `data:image/png;base64,${png.toString('base64')}` }],
    };
    const reply = await harness.send({ path: '/v1/images/edits', headers: { 'x-svc-config': 'pc-az' }, body });
    expect(reply.header('x-svc-adapted')).toBe('json->form');
    const parts = await sentParts(harness);
    expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
      ['model', null],
      ['prompt', null],
      ['n', null],
      ['image', 'image-1.png'],
    ]);
    expect(String(parts[0]?.body)).toBe('gpt-image-prod');
    expect(Buffer.compare(parts[3]?.body as Buffer, png)).toBe(0);
  });
});

describe('the memory limit for bodies', () => {
  const memory = () => new BodyMemory(1_048_576);

  it('rejects a request that would exceed it with 503 and retry-after, and accepts it later', async () => {
    const bound = memory();
    const harness = createHarness({ memory: bound });
    bound.take(900_000, 'other');
    const request = { body: { model: 'gpt-5', messages: [{ role: 'user', content: 'x'.repeat(100_000) }] }, headers: viaOne };
    const refused = await harness.send(request);
    expect([refused.status, (refused.json.error as { code: string }).code]).toEqual([503, 'overloaded']);
    expect(harness.calls).toHaveLength(0);
    bound.give(900_000, 'other');
    expect((await harness.send(request)).status).toBe(200);
    expect(bound.usedBytes).toBe(0);
  });

  it('counts plain replies while they are read, and releases all memory at the end', async () => {
    const bound = memory();
    const harness = createHarness({ memory: bound });
    let most = 0;
    harness.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'application/json']);
      handler.onData(Buffer.from(JSON.stringify(chatReply('x'.repeat(5000)))));
      most = bound.usedBytes;
      handler.onEnd();
    });
    await harness.send({ headers: viaOne });
    expect(most).toBeGreaterThan(5000);
    expect(bound.usedBytes).toBe(0);
  });

  it('ends a reply that would exceed it with 503, without another target', async () => {
    const bound = memory();
    const harness = createHarness({ memory: bound });
    harness.script(
      pieces(
        200,
        'application/json',
        Array.from({ length: 3 }, () => patternBytes(500_000)),
      ),
    );
    const reply = await harness.send({ headers: viaOne });
    expect([reply.status, harness.aborted.length, bound.usedBytes]).toEqual([503, 1, 0]);
  });
});
