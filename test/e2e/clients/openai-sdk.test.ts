import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { eventStream, openaiError, reply, stallBeforeHead, stallMidStream } from '../../support/upstream/fake-upstream.ts';
import { dataEvent } from '../../support/upstream/send-events.ts';

/** The official client, changed in nothing but `baseURL` and `apiKey`; the key decides which provider is called. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;
let apiKey: string;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  apiKey = await gateway.keyFor({ provider: '@oai' });
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const model = 'gpt-4o-mini';
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hello there' }];
const weather = (name = 'get_weather'): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] },
  },
});
const chunk = (delta: object, finish: string | null = null) =>
  dataEvent({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

describe('chat completions', () => {
  it('return a plain reply with the stored credential and send the client’s own body', async () => {
    const body = { model, messages, temperature: 0.25, seed: 7, metadata: { a: 'b' } };
    const completion = await client.chat.completions.create(body);
    expect(completion.choices[0]?.message.content).toBe('You said: hello there');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    const sent = gateway.upstream.last;
    expect(sent.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    expect(sent.text).toBe(JSON.stringify(body));
  });

  it('provide the provider’s reply headers and the trace id', async () => {
    const { response } = await client.chat.completions.create({ model, messages }).withResponse();
    expect(response.headers.get('x-request-id')).toBe('req_fake');
    expect(response.headers.get('openai-processing-ms')).toBe('12');
    expect(response.headers.get('x-svc-trace-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-svc-provider')).toBe('openai');
    expect(response.headers.get('x-svc-last-used-option-index')).toBe('config');
  });

  it('stream text piece by piece, without usage by default', async () => {
    const chunks = await collect(await client.chat.completions.create({ model, messages, stream: true }));
    expect(chunks.map((item) => item.choices[0]?.delta.content ?? '').join('')).toBe('You said: hello there');
    expect(chunks.every((item) => item.choices.length === 1 && !item.usage)).toBe(true);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.length).toBeGreaterThan(4);
  });

  it('stream the usage on request, equal to that of the plain reply', async () => {
    const plain = await client.chat.completions.create({ model, messages });
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const last = (await collect(stream)).at(-1);
    expect(last?.choices).toEqual([]);
    expect(last?.usage).toEqual(plain.usage);
  });

  it('stream a chunk while the provider is still writing', async () => {
    const held = stallMidStream([chunk({ role: 'assistant', content: 'first' })], [chunk({}, 'stop'), dataEvent('[DONE]')]);
    gateway.upstream.once('/v1/chat/completions', held);
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();
    expect(first.value?.choices[0]?.delta.content).toBe('first');
    held.release();
    const second = await iterator.next();
    expect(second.value?.choices[0]?.finish_reason).toBe('stop');
    expect((await iterator.next()).done).toBe(true);
  });

  it('pass images and stop sequences unchanged', async () => {
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'what is this' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    const completion = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content }],
      stop: ['END', '\n\n'],
    });
    expect(completion.choices[0]?.message.content).toBe('You said: what is this');
    expect(gateway.upstream.last.json()).toMatchObject({ stop: ['END', '\n\n'], messages: [{ content }] });
  });

  it('parse a reply against a JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const completion = await client.chat.completions.parse({
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ answer: 'sample' });
    expect(gateway.upstream.last.json().response_format.json_schema.schema).toEqual(schema);
  });
});

describe('tools with the OpenAI client', () => {
  it('are called, and the reply uses their result', async () => {
    const asked = await client.chat.completions.create({ model, messages, tools: [weather()] });
    const call = asked.choices[0]?.message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual(['get_weather', { city: 'sample', days: 1 }]);
    const replied = await client.chat.completions.create({
      model,
      tools: [weather()],
      messages: [...messages, asked.choices[0]!.message, { role: 'tool', tool_call_id: call.id, content: 'rain' }],
    });
    expect(replied.choices[0]?.message.content).toBe('The tool said: rain');
  });

  it('are streamed with the same calls as the plain reply', async () => {
    const plain = await client.chat.completions.create({ model, messages, tools: [weather()] });
    const streamed = await client.chat.completions.stream({ model, messages, tools: [weather()] }).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(plain.choices[0]?.message.tool_calls ?? []);
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('stay apart in parallel calls, plain and streamed, also with interleaved pieces', async () => {
    const calls = [
      { id: 'call_a', type: 'function' as const, function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
      { id: 'call_b', type: 'function' as const, function: { name: 'time', arguments: '{"city":"Rome"}' } },
    ];
    const request = { model, messages, tools: [weather('weather'), weather('time')], parallel_tool_calls: true };
    const choices = [{ index: 0, message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' }];
    gateway.upstream.once('/v1/chat/completions', reply(200, { id: 'c', object: 'chat.completion', created: 1, model, choices }));
    const plain = await client.chat.completions.create(request);
    expect(plain.choices[0]?.message.tool_calls).toEqual(calls);

    const piece = (index: number, value: object) => chunk({ tool_calls: [{ index, ...value }] });
    const opening = (index: number) => ({ ...calls[index], function: { name: calls[index]!.function.name, arguments: '' } });
    const events = [
      chunk({ role: 'assistant', content: null }),
      piece(0, opening(0)),
      piece(1, opening(1)),
      piece(0, { function: { arguments: '{"city":' } }),
      piece(1, { function: { arguments: '{"city":' } }),
      piece(1, { function: { arguments: '"Rome"}' } }),
      piece(0, { function: { arguments: '"Oslo"}' } }),
      chunk({}, 'tool_calls'),
      dataEvent('[DONE]'),
    ];
    gateway.upstream.once('/v1/chat/completions', eventStream(events));
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(calls);
  });
});

describe('further routes of the OpenAI client', () => {
  it('return the same embedding as base64 (the client’s default) and as numbers', async () => {
    const input = ['one text', 'another'];
    const packed = await client.embeddings.create({ model: 'text-embedding-3-small', input });
    expect(gateway.upstream.last.json().encoding_format).toBe('base64');
    const numbers = await client.embeddings.create({ model: 'text-embedding-3-small', input, encoding_format: 'float' });
    expect(gateway.upstream.last.json().encoding_format).toBe('float');
    expect(numbers.data.map((item) => item.embedding.length)).toEqual([8, 8]);
    expect(packed.data).toEqual(numbers.data);
    expect(packed.usage.prompt_tokens).toBe(3);
  });

  it('return text completions, plain and streamed', async () => {
    const request = { model: 'gpt-3.5-turbo-instruct', prompt: 'once upon' };
    const plain = await client.completions.create(request);
    expect(plain.choices[0]?.text).toBe(' You said: once upon');
    const chunks = await collect(await client.completions.create({ ...request, stream: true }));
    expect(chunks.map((item) => item.choices[0]?.text ?? '').join('')).toBe(' You said: once upon');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('return responses, plain and streamed alike', async () => {
    const plain = await client.responses.create({ model, input: 'hello there' });
    expect(plain.output_text).toContain('hello there');
    const stream = client.responses.stream({ model, input: 'hello there' });
    const types = new Set((await collect(stream)).map((event) => event.type));
    expect([...types]).toEqual(expect.arrayContaining(['response.created', 'response.output_text.delta', 'response.completed']));
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(plain.output_text);
    expect(final.usage).toEqual(plain.usage);
  });

  it('list models', async () => {
    const ids = (await collect(await client.models.list())).map((item) => item.id);
    expect(ids).toContain('gpt-4o-mini');
  });
});

describe('errors of the OpenAI client', () => {
  it('include AuthenticationError for an unknown key, without a call to the provider', async () => {
    const stranger = new OpenAI({ baseURL: gateway.baseUrl, apiKey: 'sk-not-ours', maxRetries: 0 });
    const error = await stranger.chat.completions.create({ model, messages }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error.error).toMatchObject({ type: 'authentication_error', code: '03' });
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [422, OpenAI.UnprocessableEntityError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ])('include the class of a %i of the provider, plain and streamed, with its message', async (status, expected) => {
    for (const stream of [false, true]) {
      gateway.upstream.once('/v1/chat/completions', openaiError(status, 'the words of the provider', 'some_code'));
      const error = await client.chat.completions.create({ model, messages, stream }).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(expected);
      expect(error).toMatchObject({ status, code: 'some_code', error: { message: 'openai error: the words of the provider' } });
    }
  });

  it('include RateLimitError with the wait of the provider', async () => {
    gateway.upstream.once('/v1/chat/completions', openaiError(429, 'slow down', 'rate_limit_exceeded', { 'retry-after': '7' }));
    const error = await client.chat.completions.create({ model, messages }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.headers.get('retry-after')).toBe('7');
    expect(error.code).toBe('rate_limit_exceeded');
  });

  it('lead to retries after the wait of the provider', async () => {
    gateway.upstream.once('/v1/chat/completions', openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }));
    const patient = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 1 });
    const completion = await patient.chat.completions.create({ model, messages });
    expect(completion.choices[0]?.message.content).toBe('You said: hello there');
    expect(gateway.upstream.requests).toHaveLength(2);
  });

  it('include an error in the middle of a stream that the provider cuts', async () => {
    gateway.upstream.once('/v1/chat/completions', eventStream([chunk({ role: 'assistant', content: 'half' })]));
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const seen: string[] = [];
    const error = await (async () => {
      for await (const item of stream) seen.push(item.choices[0]?.delta.content ?? '');
    })().catch((thrown) => thrown);
    expect(seen.join('')).toBe('half');
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error.code).toBe('stream_incomplete');
  });
});

describe('abort of the OpenAI client', () => {
  it('ends the call to the provider before the reply', async () => {
    const held = stallBeforeHead();
    gateway.upstream.once('/v1/chat/completions', held);
    const controller = new AbortController();
    const call = client.chat.completions.create({ model, messages }, { signal: controller.signal }).catch((thrown) => thrown);
    const { request } = await held.reached;
    controller.abort();
    expect(await call).toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(await request.closed).toBe('client-left');
  });

  it('ends the call to the provider in a stream', async () => {
    const held = stallMidStream([chunk({ role: 'assistant', content: 'first' })], [dataEvent('[DONE]')]);
    gateway.upstream.once('/v1/chat/completions', held);
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const item of stream) {
      expect(item.choices[0]?.delta.content).toBe('first');
      break;
    }
    const { request } = await held.reached;
    expect(await request.closed).toBe('client-left');
  });
});

describe('the Azure client with an endpoint and a key', () => {
  const azure = (deployment?: string) =>
    new AzureOpenAI({
      endpoint: gateway.baseUrl.replace(/\/v1$/, ''),
      apiKey: gateway.workspaceKey,
      apiVersion: '2025-04-01-preview',
      maxRetries: 0,
      ...(deployment === undefined ? {} : { deployment }),
    });

  it('calls the model of its deployment, plain and as a stream', async () => {
    const completion = await azure(`@oai/${model}`).chat.completions.create({ model: 'ignored', messages });
    expect(completion.choices[0]?.message.content).toBe('You said: hello there');
    const sent = gateway.upstream.last;
    expect(sent.json()).toMatchObject({ model, messages });
    expect([sent.path, sent.header('api-key')]).toEqual(['/v1/chat/completions', undefined]);
    expect(sent.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    const chunks = await collect(await azure().chat.completions.create({ model: `@oai/${model}`, messages, stream: true }));
    expect(chunks.map((item) => item.choices[0]?.delta.content ?? '').join('')).toBe('You said: hello there');
  });

  it('calls embeddings, responses, transcriptions and the list of models', async () => {
    const input = 'hello there';
    expect((await azure().embeddings.create({ model: '@oai/e', input })).data[0]?.embedding.length).toBeGreaterThan(0);
    expect((await azure().responses.create({ model: '@oai/gpt-5', input })).output_text).not.toBe('');
    expect(gateway.upstream.last.path).toBe('/v1/responses');
    const file = await toFile(Buffer.alloc(1000), 'speech.mp3', { type: 'audio/mpeg' });
    expect((await azure('@oai/whisper-1').audio.transcriptions.create({ model: 'ignored', file })).text).toBe('Good morning');
    expect(gateway.upstream.last.path).toBe('/v1/audio/transcriptions');
    expect(gateway.upstream.last.text).toMatch(/name="model"\r\n\r\nwhisper-1\r\n/);
    expect((await azure().models.list()).object).toBe('list');
  });

  it('raises errors of the gateway', async () => {
    const error = await azure('no-slug')
      .chat.completions.create({ model: 'x', messages })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.message).toContain('@provider-slug/model');
    const missing: unknown = await azure()
      .get('/v1/admin/users')
      .catch((thrown: unknown) => thrown);
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
    expect(missing).toMatchObject({ error: { type: 'invalid_request_error', message: expect.stringContaining('Use /v1') } });
  });
});
