import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { anthropicError, cutMidStream, eventStream, reply, stallMidStream } from '../../support/upstream/fake-upstream.ts';
import { namedEvent } from '../../support/upstream/send-events.ts';

/** The same client as ever; the key's config names Anthropic. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const apiKey = await gateway.keyFor({ provider: '@ant' });
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const path = '/v1/messages';
const request = {
  model: 'claude-test',
  max_tokens: 100,
  messages: [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'hello there' },
  ] as OpenAI.ChatCompletionMessageParam[],
};
const tool = (name: string): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
});
const event = (value: JsonObject & { readonly type: string }): string => namedEvent(value);
const usage = { input_tokens: 11, output_tokens: 7 };
const start = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
};
const toolUses = [
  { type: 'tool_use', id: 'toolu_a', name: 'weather', input: { city: 'Oslo' } },
  { type: 'tool_use', id: 'toolu_b', name: 'time', input: { city: 'Rome' } },
];

describe('an OpenAI call over Anthropic', () => {
  it('is sent in the Messages format with the stored credential and returns a completion', async () => {
    const completion = await client.chat.completions.create({ ...request, stop: ['END'] });
    expect(completion.object).toBe('chat.completion');
    expect(completion.choices[0]).toMatchObject({ message: { role: 'assistant', content: 'You said: hello there' } });
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    const sent = gateway.upstream.last;
    expect([sent.path, sent.header('x-api-key'), sent.header('authorization')]).toEqual([path, storedKeys.anthropic, undefined]);
    expect(sent.header('anthropic-version')).toBe('2023-06-01');
    expect(sent.json()).toMatchObject({ model: request.model, max_tokens: 100, stop_sequences: ['END'] });
    expect(JSON.stringify(sent.json().system)).toContain('be brief');
  });

  it('streams the same text, finish reason and usage as the plain reply', async () => {
    const plain = await client.chat.completions.create(request);
    const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content);
    expect(streamed.choices[0]?.finish_reason).toBe(plain.choices[0]?.finish_reason);
    expect(streamed.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
  });

  it('has no usage chunk unless requested', async () => {
    const seen = new Set<string>();
    for await (const { choices, usage } of await client.chat.completions.create({ ...request, stream: true }))
      seen.add(JSON.stringify([choices.length, usage ?? null]));
    expect([...seen]).toEqual(['[1,null]']);
  });

  it('streams a piece while the provider is still writing', async () => {
    const delta = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    const opening = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage };
    const after = [{ type: 'content_block_stop', index: 0 }, end, { type: 'message_stop' }].map(namedEvent);
    const held = stallMidStream([namedEvent(start), opening, delta('early')], [delta(' late'), ...after]);
    gateway.upstream.once(path, held);
    const texts: string[] = [];
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      const text = chunk.choices[0]?.delta.content ?? '';
      if (text === '') continue;
      texts.push(text);
      if (text === 'early') held.release();
    }
    expect(texts).toEqual(['early', ' late']);
  });

  it('converts images to Anthropic’s blocks', async () => {
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'what is this' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    await client.chat.completions.create({ ...request, messages: [{ role: 'user', content }] });
    expect(gateway.upstream.last.json().messages[0].content).toEqual([
      { type: 'text', text: 'what is this' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]);
  });

  it('returns JSON for a schema', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema' as const, json_schema: { name: 'answer', strict: true, schema } };
    const content = [{ type: 'text', text: '{"answer":"yes"}' }];
    gateway.upstream.once(path, reply(200, { ...start.message, content, stop_reason: 'end_turn', usage }));
    const completion = await client.chat.completions.parse({ ...request, response_format: format });
    expect(completion.choices[0]?.message.parsed).toEqual({ answer: 'yes' });
    expect(JSON.stringify(gateway.upstream.last.json())).toContain(JSON.stringify(schema.properties));
  });
});

describe('tools over Anthropic', () => {
  it('call a tool and reply from its result', async () => {
    const asked = await client.chat.completions.create({ ...request, tools: [tool('weather')] });
    const call = asked.choices[0]?.message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual(['weather', { city: 'sample' }]);
    const replied = await client.chat.completions.create({
      ...request,
      tools: [tool('weather')],
      messages: [...request.messages, asked.choices[0]!.message, { role: 'tool', tool_call_id: call.id, content: 'rain' }],
    });
    expect(replied.choices[0]?.message.content).toBe('The tool said: rain');
    const turns = gateway.upstream.last.json().messages;
    expect(turns.at(-1).content[0]).toMatchObject({ type: 'tool_result', tool_use_id: call.id });
  });

  it('keep parallel tool calls apart, plain and streamed alike', async () => {
    const call = { ...request, tools: [tool('weather'), tool('time')] };
    gateway.upstream.once(path, reply(200, { ...start.message, content: toolUses, stop_reason: 'tool_use', usage }));
    const plain = await client.chat.completions.create(call);
    const events = toolUses.flatMap((use, index) => [
      { type: 'content_block_start', index, content_block: { ...use, input: {} } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: ` "${use.input.city}"}` } },
      { type: 'content_block_stop', index },
    ]);
    const end = { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage };
    gateway.upstream.once(path, eventStream([start, ...events, end, { type: 'message_stop' }].map(namedEvent)));
    const streamed = await client.chat.completions.stream(call).finalChatCompletion();
    for (const { choices } of [plain, streamed]) {
      const calls = (choices[0]?.message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
      expect(calls.map(({ id, function: f }) => [id, f.name, JSON.parse(f.arguments)])).toEqual([
        ['toolu_a', 'weather', { city: 'Oslo' }],
        ['toolu_b', 'time', { city: 'Rome' }],
      ]);
      expect(choices[0]?.finish_reason).toBe('tool_calls');
    }
  });
});

describe('errors over Anthropic', () => {
  it.each([
    [400, 'invalid_request_error', OpenAI.BadRequestError],
    [401, 'authentication_error', OpenAI.AuthenticationError],
    [404, 'not_found_error', OpenAI.NotFoundError],
    [429, 'rate_limit_error', OpenAI.RateLimitError],
    [529, 'overloaded_error', OpenAI.InternalServerError],
  ])('raise the class of a %i with the provider’s message', async (status, type, expected) => {
    gateway.upstream.once(path, anthropicError(status, type, 'its own words', { 'retry-after': '3' }));
    const error = await client.chat.completions.create(request).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({ status, type, error: { message: 'anthropic error: its own words' } });
    expect(error.headers.get('retry-after')).toBe('3');
  });

  it('raise in the middle of a stream, for an error event and a cut', async () => {
    const opening = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'half' } });
    const said = event({ type: 'error', error: { type: 'overloaded_error', message: 'too busy' } });
    const begun = [namedEvent(start), opening];
    for (const behaviour of [eventStream([...begun, said]), cutMidStream(begun, 'fin'), cutMidStream(begun, 'reset')]) {
      gateway.upstream.once(path, behaviour);
      const stream = await client.chat.completions.create({ ...request, stream: true });
      const error = await (async () => {
        for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason ?? null).toBeNull();
      })().catch((thrown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.APIError);
    }
  });

  it('end the call to Anthropic when the client aborts a stream', async () => {
    const held = stallMidStream([namedEvent(start)], []);
    gateway.upstream.once(path, held);
    const stream = await client.chat.completions.create({ ...request, stream: true });
    for await (const chunk of stream) {
      expect(chunk.choices[0]?.delta.role).toBe('assistant');
      break;
    }
    expect(await (await held.reached).request.closed).toBe('client-left');
  });
});
