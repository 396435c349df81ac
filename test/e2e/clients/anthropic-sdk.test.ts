import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import {
  anthropicError,
  cutMidStream,
  openaiError,
  reply,
  stallBeforeHead,
  stallMidStream,
} from '../../support/upstream/fake-upstream.ts';
import { dataEvent, namedEvent } from '../../support/upstream/send-events.ts';

/** The official client. Only `baseURL` (it adds `/v1` itself) and `apiKey` differ from its defaults. */
let gateway: SharedGatewayWithUpstream;
/** Served by Anthropic. */
let native: Anthropic;
/** The same calls served by a provider of the OpenAI format. */
let translated: Anthropic;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const options = { baseURL: gateway.origin, maxRetries: 0 };
  native = new Anthropic({ ...options, apiKey: await gateway.keyFor({ provider: '@ant' }) });
  translated = new Anthropic({ ...options, apiKey: await gateway.keyFor({ provider: '@oai' }) });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const model = 'claude-test';
const request: Anthropic.MessageCreateParamsNonStreaming = {
  model,
  max_tokens: 64,
  system: 'be brief',
  messages: [{ role: 'user', content: 'hello there' }],
};
const tools: Anthropic.Tool[] = [
  { name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
];
const image: Anthropic.ImageBlockParam = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
};

describe('the Anthropic client with Anthropic', () => {
  it('sends and returns the bytes unchanged, including unknown fields', async () => {
    const text = JSON.stringify({ ...request, some_new_field: { deep: [1, 2.0, 'x'] } });
    const result = `{ "id":"msg_1", "type":"message","role":"assistant","model":"m", "content":[],"novelty": 1.0,\n"usage":{"input_tokens":3,"output_tokens":0}}`;
    gateway.upstream.once('/v1/messages', reply(200, Buffer.from(result), { 'content-type': 'application/json' }));
    const response = await native.messages.create(JSON.parse(text)).asResponse();
    expect(await response.text()).toBe(result);
    expect(gateway.upstream.last.text).toBe(text);
  });

  it('sends the stored credential and the client’s headers, never the key of the gateway', async () => {
    await native.messages.create(request, {
      headers: { 'anthropic-beta': 'one-2026-01-01,two-2026-01-01', 'anthropic-version': '2023-01-01' },
    });
    const sent = gateway.upstream.last;
    expect(sent.header('x-api-key')).toBe(storedKeys.anthropic);
    expect(sent.header('anthropic-version')).toBe('2023-01-01');
    expect(sent.header('anthropic-beta')).toBe('one-2026-01-01,two-2026-01-01');
    expect(sent.rawHeaders.join('\n')).not.toContain(native.apiKey);
    expect(sent.headerNames().filter((name) => name.startsWith('x-svc-'))).toEqual([]);
  });

  it('streams the message that the plain call returns', async () => {
    const plain = await native.messages.create(request);
    expect(plain.content).toEqual([{ type: 'text', text: 'You said: hello there' }]);
    const stream = native.messages.stream(request);
    const types: string[] = [];
    stream.on('streamEvent', (event) => types.push(event.type));
    const streamed = await stream.finalMessage();
    expect(streamed.content).toEqual(plain.content);
    expect([streamed.stop_reason, streamed.usage.output_tokens]).toEqual([plain.stop_reason, plain.usage.output_tokens]);
    expect(types[0]).toBe('message_start');
    expect(types.at(-1)).toBe('message_stop');
  });

  it('counts tokens', async () => {
    gateway.upstream.once('/v1/messages/count_tokens', reply(200, { input_tokens: 42 }));
    const { system, messages } = request;
    expect(await native.messages.countTokens({ model, system: system as string, messages })).toMatchObject({ input_tokens: 42 });
    expect(gateway.upstream.last.json()).toEqual({ model, system, messages });
  });

  it('lists the models of the provider', async () => {
    gateway.upstream.once('/v1/models', reply(200, { data: [{ id: model, type: 'model' }], has_more: false }));
    const listed: string[] = [];
    for await (const item of native.models.list()) listed.push(item.id);
    expect(listed).toEqual([model]);
    expect(gateway.upstream.last.header('x-api-key')).toBe(storedKeys.anthropic);
  });
});

describe.each([
  ['Anthropic', () => native, '/v1/messages'],
  ['an OpenAI-format provider', () => translated, '/v1/chat/completions'],
])('the Anthropic client with %s', (_, clientOf, path) => {
  it('gets a plain message', async () => {
    const message = await clientOf().messages.create(request);
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(message.content).toMatchObject([{ type: 'text', text: 'You said: hello there' }]);
    expect(message.usage.output_tokens).toBe(4);
    expect(gateway.upstream.last.path).toBe(path);
  });

  it('streams the same message', async () => {
    const plain = await clientOf().messages.create(request);
    const stream = clientOf().messages.stream(request);
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const streamed = await stream.finalMessage();
    expect(texts.length).toBeGreaterThan(2);
    expect(streamed.content).toMatchObject([{ type: 'text', text: texts.join('') }]);
    expect(streamed.content).toMatchObject(plain.content);
    expect([streamed.stop_reason, streamed.usage.output_tokens]).toEqual([plain.stop_reason, plain.usage.output_tokens]);
  });

  it('calls a tool, plain and streamed, and replies from its result', async () => {
    const plain = await clientOf().messages.create({ ...request, tools });
    const streamed = await clientOf()
      .messages.stream({ ...request, tools })
      .finalMessage();
    for (const message of [plain, streamed]) {
      expect(message.stop_reason).toBe('tool_use');
      expect(message.content).toMatchObject([{ type: 'tool_use', name: 'get_weather', input: { city: 'sample' } }]);
    }
    const use = plain.content[0] as Anthropic.ToolUseBlock;
    const replied = await clientOf().messages.create({
      ...request,
      tools,
      messages: [
        ...request.messages,
        { role: 'assistant', content: plain.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'rain' }] },
      ],
    });
    expect(replied.content).toMatchObject([{ type: 'text', text: 'The tool said: rain' }]);
  });

  it('ends the call to the provider when the client aborts before the reply', async () => {
    const held = stallBeforeHead();
    gateway.upstream.once(path, held);
    const controller = new AbortController();
    const call = clientOf()
      .messages.create(request, { signal: controller.signal })
      .catch((thrown) => thrown);
    const exchange = await held.reached;
    controller.abort();
    expect(await call).toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(await exchange.request.closed).toBe('client-left');
  });

  it('ends the call to the provider when the client aborts a stream', async () => {
    const chat = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta: { content: 'x' } }],
    };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const start = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model, content: [], usage } };
    const held = stallMidStream([path.endsWith('/messages') ? namedEvent(start) : dataEvent(chat)], []);
    gateway.upstream.once(path, held);
    const stream = await clientOf().messages.create({ ...request, stream: true });
    for await (const event of stream) {
      expect(event.type).toBe('message_start');
      break;
    }
    expect(await (await held.reached).request.closed).toBe('client-left');
  });
});

describe('the Anthropic client with an OpenAI-format provider', () => {
  it('sends its format: system, images, tools, stop and limits under their other names', async () => {
    await translated.messages.create({
      ...request,
      stop_sequences: ['END'],
      tools,
      tool_choice: { type: 'any' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, image] }],
    });
    const sent = gateway.upstream.last;
    expect(sent.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    expect(sent.header('x-api-key')).toBeUndefined();
    expect(sent.json()).toMatchObject({
      model,
      max_completion_tokens: 64,
      stop: ['END'],
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: tools[0]?.input_schema } }],
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
    });
  });
});

describe('errors of the Anthropic client', () => {
  it('include AuthenticationError for an unknown key', async () => {
    const stranger = new Anthropic({ baseURL: gateway.origin, apiKey: 'sk-ant-not-ours', maxRetries: 0 });
    const error = await stranger.messages.create(request).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error.error).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it.each([
    [400, 'invalid_request_error', Anthropic.BadRequestError],
    [404, 'not_found_error', Anthropic.NotFoundError],
    [429, 'rate_limit_error', Anthropic.RateLimitError],
    [500, 'api_error', Anthropic.InternalServerError],
    [529, 'overloaded_error', Anthropic.InternalServerError],
  ])('include the class of a %i of Anthropic', async (status, type, expected) => {
    gateway.upstream.once('/v1/messages', anthropicError(status, type, 'its own words', { 'retry-after': '2' }));
    const error = await native.messages.create(request).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(expected);
    expect(error.error).toMatchObject({ type: 'error', error: { type, message: 'anthropic error: its own words' } });
    expect(error.headers.get('retry-after')).toBe('2');
  });

  it.each([
    [400, Anthropic.BadRequestError],
    [429, Anthropic.RateLimitError],
    [500, Anthropic.InternalServerError],
  ])('include the class of a %i of an OpenAI-format provider', async (status, expected) => {
    gateway.upstream.once('/v1/chat/completions', openaiError(status, 'its own words'));
    const error = await translated.messages.create(request).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(expected);
    expect(error.error).toMatchObject({ type: 'error', error: { message: 'openai error: its own words' } });
  });

  it('include an error within an event of a stream that the provider cuts', async () => {
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const start = namedEvent({ type: 'message_start', message });
    gateway.upstream.once('/v1/messages', cutMidStream([start, start.slice(0, 40)]));
    const stream = await native.messages.create({ ...request, stream: true });
    const error = await (async () => {
      for await (const event of stream) expect(event.type).toBe('message_start');
    })().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error.error).toMatchObject({ error: { type: 'api_error', code: 'upstream_reset' } });
  });

  it('exclude the count of tokens of a provider that has no such route: it is an estimate of the gateway', async () => {
    const { messages } = request;
    const { data, response } = await translated.messages.countTokens({ model, messages }).withResponse();
    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-svc-adapted')).toBe('reply.input_tokens');
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});
