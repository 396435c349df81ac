import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  createHarness,
  type FakeRequest,
  type FakeSink,
  failWith,
  type Script,
} from '../../../core/test-kit/pipeline-harness.ts';

const json = ['content-type', 'application/json'];
const events = ['content-type', 'text/event-stream'];

/** Sends these bytes in chunks of this size. */
function bytes(body: Uint8Array | string, headers: HeaderList, chunkBytes = 7): Script {
  return (_call, handler) => {
    handler.onHead(200, [...headers]);
    const whole = Buffer.from(body as Uint8Array);
    for (let at = 0; at < whole.length; at += chunkBytes) handler.onData(whole.subarray(at, at + chunkBytes));
    handler.onEnd();
  };
}

/** Reads the request's body completely before it replies. */
const reading =
  (script: Script): Script =>
  (call, handler) => {
    if (call.body === null || call.body instanceof Uint8Array) return script(call, handler);
    return call.body.pipe(
      { onData: () => true, onEnd: () => void script(call, handler), onError: () => {} },
      call.bodyBytesMax ?? 0,
    );
  };

/** Sends one request through, and returns the client's reply and the record. */
async function pass(script: Script, request: Partial<FakeRequest> = {}): Promise<{ sink: FakeSink; record: RequestRecord }> {
  const harness = createHarness();
  harness.script(reading(script));
  const sink = await harness.send({
    method: 'POST',
    path: '/v1/proxy/chat/completions',
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] },
    ...request,
    headers: { 'x-svc-provider': '@one', ...request.headers },
  });
  return { sink, record: harness.records[0] as RequestRecord };
}

const sse = (...items: readonly object[]): string => items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');
const chat = { model: 'gpt-5-2026', choices: [{ message: { content: 'hello' } }] };
const openAi = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50, prompt_tokens_details: { cached_tokens: 10 } };
const ofOpenAi = { inputTokens: 20, cacheReadTokens: 10, outputTokens: 20, usageEstimated: false };

const svg_usage = { model: 'author', input_tokens: 30, output_tokens: 50 };

describe('usage of pass-through replies', () => {
  it.each<[string, string, string, HeaderList, Partial<RequestRecord>]>([
    [
      'chat',
      '/proxy/chat/completions',
      JSON.stringify({ ...chat, usage: openAi, service_tier: 'flex' }),
      json,
      { ...ofOpenAi, serviceTier: 'flex' },
    ],
    [
      'chat stream',
      '/proxy/chat/completions',
      `${sse({ ...chat, usage: null }, { ...chat, choices: [], usage: openAi })}data: [DONE]\n\n`,
      events,
      ofOpenAi,
    ],
    [
      'embeddings',
      '/proxy/embeddings',
      JSON.stringify({ data: [{ embedding: [0.1, -2e-3] }], usage: { prompt_tokens: 8, total_tokens: 8 } }),
      json,
      { inputTokens: 8, outputTokens: 0 },
    ],
    [
      'responses',
      '/proxy/responses',
      JSON.stringify({
        usage: {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 6,
          output_tokens_details: { reasoning_tokens: 2 },
        },
      }),
      json,
      { inputTokens: 5, cacheReadTokens: 4, outputTokens: 6, reasoningTokens: 2 },
    ],
    [
      'responses stream',
      '/proxy/responses',
      sse(
        { type: 'response.created', response: { usage: null } },
        { type: 'response.completed', response: { service_tier: 'priority', usage: { input_tokens: 9, output_tokens: 6 } } },
      ),
      events,
      { inputTokens: 9, outputTokens: 6, serviceTier: 'priority' },
    ],
    [
      'responses with tools that are billed per call',
      '/proxy/responses',
      sse({
        type: 'response.completed',
        response: {
          tool_usage: { image_gen: null, web_search: { num_requests: 3 } },
          usage: { input_tokens: 9, output_tokens: 6 },
        },
      }),
      events,
      { inputTokens: 9, rawUsage: { input_tokens: 9, output_tokens: 6, tool_usage: { web_search: { num_requests: 3 } } } },
    ],
    [
      'messages stream',
      '/proxy/messages',
      sse(
        {
          type: 'message_start',
          message: { usage: { input_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 } },
        },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } },
        { type: 'message_delta', delta: {}, usage: { output_tokens: 11, cache_read_input_tokens: null } },
      ),
      events,
      { inputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 3, outputTokens: 11 },
    ],
    [
      'generateContent',
      '/models/gemini-x:generateContent',
      JSON.stringify({
        usageMetadata: { promptTokenCount: 12, cachedContentTokenCount: 2, candidatesTokenCount: 5, thoughtsTokenCount: 4 },
        modelVersion: 'gemini-x-001',
      }),
      json,
      { inputTokens: 10, cacheReadTokens: 2, outputTokens: 9, reasoningTokens: 4, model: 'gemini-x' },
    ],
    [
      'streamGenerateContent as an array',
      '/models/gemini-x:streamGenerateContent',
      JSON.stringify(
        [
          { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1 } },
          { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 8 } },
        ],
        null,
        2,
      ),
      json,
      { inputTokens: 12, outputTokens: 8, model: 'gemini-x' },
    ],
    [
      'converse',
      '/model/a.claude%3A0/converse',
      JSON.stringify({ output: {}, usage: { inputTokens: 3, outputTokens: 4, cacheReadInputTokens: 2 } }),
      json,
      { inputTokens: 3, outputTokens: 4, cacheReadTokens: 2, model: 'a.claude:0' },
    ],
    [
      'invoke, by its headers',
      '/model/amazon.titan/invoke',
      '{"results":[]}',
      [...json, 'x-amzn-bedrock-input-token-count', '6', 'x-amzn-bedrock-output-token-count', '2'],
      { inputTokens: 6, outputTokens: 2, model: 'amazon.titan' },
    ],
    [
      'Cohere v2 chat',
      '/v2/chat',
      JSON.stringify({ usage: { billed_units: { input_tokens: 5, output_tokens: 6 }, tokens: { input_tokens: 70 } } }),
      json,
      { inputTokens: 70, outputTokens: 6 },
    ],
    [
      'Cohere v2 stream',
      '/v2/chat',
      sse({ type: 'message-end', delta: { usage: { billed_units: { input_tokens: 5, output_tokens: 6 } } } }),
      events,
      { inputTokens: 5, outputTokens: 6 },
    ],
    [
      'rerank',
      '/proxy/rerank',
      JSON.stringify({ results: [], meta: { billed_units: { search_units: 2 } } }),
      json,
      { media: expect.objectContaining({ units: { search_units: 2 } }) as never, usageEstimated: false },
    ],
    [
      'OCR',
      '/proxy/ocr',
      JSON.stringify({ pages: [], usage_info: { pages_processed: 3 } }),
      json,
      { media: expect.objectContaining({ units: { pages: 3 } }) as never },
    ],
    [
      'images',
      '/proxy/images/generations',
      JSON.stringify({ data: [{ b64_json: 'x'.repeat(999) }, { url: 'https://a' }] }),
      json,
      { media: expect.objectContaining({ units: { generated_images: 2 } }) as never, usageEstimated: false },
    ],
    [
      'SVGs in a response',
      '/proxy/responses',
      JSON.stringify({ output: [{ type: 'message', content: [] }, { svg_usage }, { svg_usage }], usage: svg_usage }),
      json,
      { inputTokens: 30, rawUsage: { ...svg_usage, svg_usage: [svg_usage, svg_usage] } },
    ],
    [
      'an SVG in a streamed response',
      '/proxy/responses',
      sse({ type: 'response.completed', response: { output: [{ svg_usage }], usage: svg_usage } }),
      events,
      { inputTokens: 30, rawUsage: { ...svg_usage, svg_usage: [svg_usage] } },
    ],
    [
      'a streamed SVG',
      '/proxy/images/generations',
      sse({ type: 'image_generation.completed', b64_json: 'AA==', usage: svg_usage, svg_usage }),
      events,
      { rawUsage: { ...svg_usage, svg_usage }, media: expect.objectContaining({ units: { generated_images: 1 } }) as never },
    ],
    [
      'transcriptions',
      '/proxy/audio/transcriptions',
      JSON.stringify({ text: 'hi', usage: { type: 'duration', seconds: 4 } }),
      json,
      { media: expect.objectContaining({ units: { audio_seconds: 4 } }) as never },
    ],
    [
      'newline-delimited JSON',
      '/api/chat',
      `{"done":false}\n{"done":true,"prompt_eval_count":5,"eval_count":9}\n`,
      ['content-type', 'application/x-ndjson'],
      { inputTokens: 5, outputTokens: 9 },
    ],
  ])('is read from %s, and no byte changes', async (_what, path, body, headers, expected) => {
    for (const chunkBytes of [1, 64, 1_000_000]) {
      const { sink, record } = await pass(bytes(body, headers, chunkBytes), { path: `/v1${path}` });
      expect(sink.text).toBe(body);
      expect(record).toMatchObject({ outcome: 'success', model: 'gpt-5', usageEstimated: false, ...expected });
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ])('is read from a copy of a reply in %s', async (encoding, compress) => {
    const body = compress(JSON.stringify({ ...chat, usage: openAi }));
    const { sink, record } = await pass(bytes(body, [...json, 'content-encoding', encoding]));
    expect(Buffer.concat(sink.chunks).equals(body)).toBe(true);
    expect(sink.header('content-encoding')).toBe(encoding);
    expect(record).toMatchObject(ofOpenAi);
  });

  it('is estimated for damaged replies and unknown encodings', async () => {
    for (const encoding of ['gzip', 'own']) {
      const { sink, record } = await pass(bytes('x'.repeat(400), [...json, 'content-encoding', encoding]));
      expect(sink.text).toHaveLength(400);
      expect(record).toMatchObject({ usageEstimated: true, outputTokens: 100 });
    }
  });

  it('is estimated without stated usage: texts of request and reply, four bytes per token', async () => {
    const body = { choices: [{ message: { content: 'a'.repeat(400) } }], other: 'b'.repeat(400) };
    const request = { body: { model: 'm', input: 'x'.repeat(793), image_url: `data:${'y'.repeat(99_000)}` } };
    const { record } = await pass(bytes(JSON.stringify(body), json), { path: '/v1/custom/thing', ...request });
    expect(record).toMatchObject({ usageEstimated: true, model: 'm', inputTokens: 1_199, outputTokens: 100, media: null });
  });

  it('is estimated at one token per event for streams, and by size for plain text', async () => {
    const stream = await pass(bytes(`${sse(chat, chat, chat)}data: [DONE]\n\n`, events));
    expect(stream.record).toMatchObject({ usageEstimated: true, stream: true, outputTokens: 4 });
    const text = await pass(bytes('x'.repeat(40), ['content-type', 'text/plain']), { path: '/v1/custom/thing' });
    expect(text.record).toMatchObject({ usageEstimated: true, outputTokens: 10 });
  });

  it('is the number of characters of a speech request, and zero for moderations without counts', async () => {
    const speech = { path: '/v1/proxy/audio/speech', body: { model: 'tts-1', input: 'héllo' } };
    const spoken = await pass(bytes('sound', ['content-type', 'audio/mpeg']), speech);
    expect(spoken.record).toMatchObject({ usageEstimated: false, inputTokens: 0, media: { units: { characters: 5 } } });
    const moderated = await pass(bytes('{"results":[]}', json), { path: '/v1/proxy/moderations', body: { input: 'hi' } });
    expect(moderated.record).toMatchObject({ usageEstimated: false, inputTokens: 0, outputTokens: 0 });
  });

  it.each([
    ['GET', '/v1/proxy/files'],
    ['DELETE', '/v1/proxy/files/file-1'],
    ['POST', '/v1/proxy/files'],
    ['POST', '/v1/v1beta/models/g:countTokens'],
    ['POST', '/v1/proxy/messages/count_tokens'],
    ['POST', '/v1/proxy/fine_tuning/jobs'],
    ['POST', '/v1/proxy/batches/b-1/cancel'],
  ])('is none for %s %s, whatever the reply contains', async (method, path) => {
    const { record } = await pass(bytes(JSON.stringify({ usage: openAi }), json), { method, path });
    expect(record).toMatchObject({ inputTokens: 0, outputTokens: 0, usageEstimated: false });
  });

  it('counts the received part if the client disconnects, marked as estimated', async () => {
    const harness = createHarness();
    harness.script((_call, handler) => {
      handler.onHead(200, [...events]);
      handler.onData(Buffer.from(sse({ message: { usage: { input_tokens: 7, output_tokens: 1 } } }, chat, chat, chat, chat)));
    });
    await harness.send({
      path: '/v1/proxy/messages',
      headers: { 'x-svc-provider': '@one' },
      prepare: (sink) => sink.onFirstWrite(() => setImmediate(() => sink.leave())),
    });
    expect(harness.records[0]).toMatchObject({ outcome: 'aborted', inputTokens: 7, outputTokens: 5, usageEstimated: true });
  });

  it('is none if the provider rejects the request', async () => {
    const { record } = await pass((_call, handler) => {
      handler.onHead(429, [...json]);
      handler.onData(Buffer.from('{"error":{"message":"slow"}}'));
      handler.onEnd();
    });
    expect(record).toMatchObject({ status: 429, inputTokens: 0, usageEstimated: false });
  });

  it.each<[string, string, HeaderList]>([
    ['a body', JSON.stringify({ error: { message: 'no', code: 402 } }), json],
    ['an event', sse({ id: 'x', error: { message: 'no' } }), events],
    ['a text', JSON.stringify({ error: 'model not loaded' }), json],
  ])('is none for an error with status 200, as %s', async (_title, body, headers) => {
    const { record } = await pass(bytes(body, headers));
    expect(record).toMatchObject({ status: 200, inputTokens: 0, outputTokens: 0, usageEstimated: false });
    const text = { choices: [{ delta: { content: 'hello' } }] };
    const begun = await pass(bytes(sse(text, { error: { message: 'no' } }), events));
    expect(begun.record).toMatchObject({ usageEstimated: true, outputTokens: 2 });
    const whole = await pass(bytes(JSON.stringify({ error: null, output: 'hello' }), json));
    expect(whole.record).toMatchObject({ usageEstimated: true, outputTokens: 2 });
  });

  it('has the model of a streamed body or form, or of the reply if the request has none', async () => {
    const reply = bytes(JSON.stringify({ ...chat, usage: openAi }), json);
    const large = await pass(reply, { body: { messages: 'x'.repeat(100_000), model: 'last' } });
    expect(large.record.model).toBe('last');
    const form = `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b\r\ncontent-disposition: form-data; name="file"\r\n\r\n${'z'.repeat(100_000)}\r\n--b--`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const spoken = await pass(reply, { path: '/v1/proxy/audio/transcriptions', body: form, headers });
    expect(spoken.record.model).toBe('whisper-1');
    expect((await pass(reply, { body: {} })).record.model).toBe('gpt-5-2026');
  });

  it.each<[string, string, string, string | JsonObject, string]>([
    ['the query', '/v1/proxy/chat/completions?model=cheap', 'application/json', { model: 'dear' }, 'dear'],
    ['the body of a Deepgram path', '/v1/listen?model=dear', 'application/json', { url: 'x', model: 'cheap' }, 'dear'],
    [
      'the text of another part',
      '/v1/proxy/audio/transcriptions',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\ncontent-disposition: form-data; name="model"\r\n\r\ncheap\r\n\r\n--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ndear\r\n--b--',
      'dear',
    ],
  ])('has the model that the provider reads, and not one in %s', async (_what, path, type, body, model) => {
    const { record } = await pass(bytes('{}', json), { path, body, headers: { 'content-type': type } });
    expect(record.model).toBe(model);
  });

  it.each<[string, string[], string, number, string]>([
    ['rejects two models', ['cheap', 'dear'], '/v1/proxy/audio/transcriptions', 400, 'cheap'],
    ['accepts the same model twice', ['dear', 'dear'], '/v1/proxy/audio/transcriptions', 200, 'dear'],
    ['ignores models if the path has one', ['cheap', 'other'], '/v1/proxy/deployments/dear/audio/transcriptions', 200, 'dear'],
  ])('a form %s', async (_what, models, path, status, model) => {
    const part = (text: string) => `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n${text}\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const { sink, record } = await pass(bytes('{}', json), { path, body: `${models.map(part).join('')}--b--`, headers });
    expect([sink.status, record.model]).toEqual([status, model]);
    if (status === 400) expect(sink.json).toMatchObject({ error: { message: expect.stringContaining('model: given twice') } });
  });

  it.each([
    ['a small body', { model: 'cheap' }],
    ['a streamed body', { prompt: 'x'.repeat(100_000), model: 'cheap' }],
  ])('has the model of a path that only one provider has, and not one in %s', async (_what, body) => {
    const request = { path: '/v1/proxy/dear', body, headers: { 'x-svc-provider': 'segmind' } };
    expect((await pass(bytes('{}', json), request)).record.model).toBe('dear');
  });

  it('has the model of the body after a fallback from such a path', async () => {
    const harness = createHarness({ providers: { one: 'segmind', two: 'openai' } });
    harness.script(failWith(new GatewayError('upstream_connect')), bytes('{}', json));
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] };
    const headers = { 'x-svc-config': JSON.stringify(config) };
    await harness.send({ method: 'POST', path: '/v1/proxy/responses', headers, body: { model: 'dear', input: 'hi' } });
    expect(harness.records[0]).toMatchObject({ model: 'dear', attempts: [{ model: 'responses' }, { model: 'dear' }] });
  });
});
