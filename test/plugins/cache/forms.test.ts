import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { messageFromEvents } from '../../../core/contract/plugin/text/message-from-events.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { chatFromEvents, chatToEvents } from '../../../plugins/cache/forms/chat.ts';
import { readEvents } from '../../../plugins/cache/forms/events.ts';
import { messageToEvents } from '../../../plugins/cache/forms/messages.ts';
import { responseFromEvents, responseToEvents } from '../../../plugins/cache/forms/responses.ts';
import { openAiOver } from '../../support/clients/clients-over-harness.ts';

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{"a":1}' } });
const chats: Record<string, JsonObject> = {
  text: { role: 'assistant', content: 'hello there', refusal: null },
  'tool calls': { role: 'assistant', content: null, tool_calls: [call('c1', 'f'), call('c2', 'g')] },
  'calls of functions and custom tools': {
    ...{ role: 'assistant', content: null },
    tool_calls: [call('c1', 'f'), { id: 'c2', type: 'custom', custom: { name: 'g', input: '*** Begin\n' } }],
  },
  reasoning: { role: 'assistant', content: 'four', reasoning_content: 'two and two', annotations: [{ type: 'url_citation' }] },
  refusal: { role: 'assistant', content: null, refusal: 'no' },
};
const chatOf = (...messages: JsonObject[]): JsonObject => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', system_fingerprint: 'fp' },
  choices: messages.map((message, index) => ({ index, message, logprobs: null, finish_reason: 'stop' })),
  usage,
});
const events = (stream: string | null): JsonObject[] => readEvents(stream ?? '') as JsonObject[];

describe('forms of chat completions', () => {
  it.each(Object.entries(chats))('a reply with %s survives as events and back', (_what, message) => {
    const reply = chatOf(message);
    expect(chatFromEvents(events(chatToEvents(reply, true)))).toEqual(reply);
  });

  it('several choices survive, and logprobs', () => {
    const reply = chatOf(chats.text as JsonObject, chats['tool calls'] as JsonObject);
    (reply.choices as JsonObject[])[0] = {
      ...(reply.choices as JsonObject[])[0],
      logprobs: { content: [{ token: 'h' }], refusal: null },
    };
    expect(chatFromEvents(events(chatToEvents(reply, true)))).toEqual(reply);
  });

  it('native blocks are pieces with an index, as in streams of providers', () => {
    const [thinking, text] = [
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'text', text: 'b' },
    ];
    const [first] = events(chatToEvents(chatOf({ role: 'assistant', content: 'b', content_blocks: [thinking, text] }), true));
    expect(first?.choices).toMatchObject([
      {
        delta: {
          content: 'b',
          content_blocks: [
            { index: 0, delta: thinking },
            { index: 1, delta: text },
          ],
        },
      },
    ]);
  });

  it('a call of a custom tool in several pieces is assembled', () => {
    const piece = (toolCall: JsonObject) => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...toolCall }] } }] });
    const stream = [
      piece({ id: 'c', type: 'custom', custom: { name: 'g', input: '' } }),
      ...['a\n', 'b'].map((input) => piece({ custom: { input } })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage },
    ];
    expect(chatFromEvents(stream)).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'g', input: 'a\nb' } }] } }],
    });
    expect(JSON.stringify(chatFromEvents(stream))).not.toContain('function');
  });

  it('completions survive', () => {
    const reply = {
      ...{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', usage },
      choices: [{ index: 0, text: 'hello', logprobs: null, finish_reason: 'stop' }],
    };
    expect(chatFromEvents(events(chatToEvents(reply, true)))).toEqual(reply);
  });

  it('the event for usage is written only if it is requested', () => {
    expect(chatToEvents(chatOf({ role: 'assistant', content: 'x' }), false)).not.toContain('usage');
    expect(chatToEvents(chatOf({ role: 'assistant', content: 'x' }), true)).toContain('"total_tokens":8');
  });

  it.each([
    ['no usage', [{ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] }]],
    ['an error', [{ error: { message: 'x' } }]],
    ['content blocks', [{ choices: [{ index: 0, delta: { content_blocks: [] } }], usage }]],
    ['a delta of an unknown kind', [{ choices: [{ index: 0, delta: { audio: { id: 'a' } } }], usage }]],
  ])('a stream with %s is not assembled', (_what, stream) => {
    expect(chatFromEvents(stream)).toBeNull();
  });
});

const message: JsonObject = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'tool_use', stop_sequence: null },
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'text', text: 'hello', citations: [{ type: 'char_location', cited_text: 'h' }] },
    { type: 'text', text: 'plain' },
    { type: 'tool_use', id: 't1', name: 'f', input: { a: [1, 2] } },
    { type: 'tool_use', id: 't2', name: 'g', input: {} },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  ],
  usage: { input_tokens: 4, output_tokens: 6 },
};

describe('forms of messages', () => {
  it('a reply with every kind of block survives as events and back', () => {
    expect(messageFromEvents(events(messageToEvents(message)))).toEqual(message);
  });

  it.each([
    ['cut', (all: JsonObject[]) => all.slice(0, -1)],
    ['failed', (all: JsonObject[]) => [...all, { type: 'error', error: {} }]],
    [
      'interrupted by an unknown delta',
      (all: JsonObject[]) => [
        ...all.slice(0, 2),
        { type: 'content_block_delta', index: 0, delta: { type: 'x' } },
        ...all.slice(2),
      ],
    ],
  ])('a stream that is %s is not assembled', (_what, change) => {
    expect(messageFromEvents(change(events(messageToEvents(message))))).toBeNull();
  });
});

const response: JsonObject = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', incomplete_details: null, error: null },
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [
        { type: 'output_text', text: 'hello', annotations: [{ type: 'url_citation', url: 'https://x.y' }] },
        { type: 'refusal', refusal: 'no' },
      ],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"a":1}', status: 'completed' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'd', name: 'g', input: 'a\nb', status: 'completed' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
  ],
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};

describe('forms of responses', () => {
  it('a reply with every kind of item survives as events and back', () => {
    expect(responseFromEvents(events(responseToEvents(response)))).toEqual(response);
    const numbers = events(responseToEvents(response)).map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
  });

  it('the input of a custom tool has its events', () => {
    expect(events(responseToEvents(response)).filter(({ item_id }) => item_id === 'ctc_1')).toMatchObject([
      { type: 'response.custom_tool_call_input.delta', delta: 'a\nb' },
      { type: 'response.custom_tool_call_input.done', input: 'a\nb' },
    ]);
  });

  it('a failed response is not converted', () => {
    expect(responseToEvents({ ...response, status: 'failed' })).toBeNull();
    expect(responseFromEvents([{ type: 'response.failed', response }])).toBeNull();
  });

  it('is not converted if its events would repeat a long id too often', () => {
    const content = Array.from({ length: 1_000 }, () => ({ type: 'output_text', text: 'a', annotations: [] }));
    const output = (id: string) => [{ id, type: 'message', role: 'assistant', content }];
    expect(responseToEvents({ ...response, output: output('i'.repeat(10_000)) })).toBeNull();
    expect(responseToEvents({ ...response, output: output('i'.repeat(1_000)) })).not.toBeNull();
  });
});

const cached = { 'x-svc-config': '{"provider":"@one","cache":"simple"}' };
const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };

describe('plain replies and streams share entries', () => {
  it('a plain reply serves a stream, with usage if it is requested', async () => {
    const gateway = createHarness();
    await gateway.send({ headers: cached, body });
    const stream = await gateway.send({ headers: cached, body: { ...body, stream: true } });
    expect([stream.header('x-svc-cache-status'), stream.header('content-type')]).toEqual([
      'HIT',
      'text/event-stream; charset=utf-8',
    ]);
    expect(stream.text).toContain('hello');
    expect(stream.text).not.toContain('"usage"');
    expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const counted = await gateway.send({
      headers: cached,
      body: { ...body, stream: true, stream_options: { include_usage: true } },
    });
    expect(counted.header('x-svc-cache-status')).toBe('HIT');
    expect(counted.text).toContain('"total_tokens"');
    expect(gateway.calls).toHaveLength(1);
  });

  it('a stream with usage serves a plain request; one without usage does not', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['hel', 'lo']));
    await gateway.send({ headers: cached, body: { ...body, stream: true } });
    const uncounted = await gateway.send({ headers: cached, body });
    const isUncounted = uncounted.header('x-svc-cache-status');
    const counting = createHarness();
    counting.script(streamWithUsage);
    await counting.send({ headers: cached, body: { ...body, stream: true, stream_options: { include_usage: true } } });
    const plain = await counting.send({ headers: cached, body });
    expect([isUncounted, plain.header('x-svc-cache-status')]).toEqual(['MISS', 'HIT']);
    expect(plain.json).toMatchObject({ object: 'chat.completion', choices: [{ message: { content: 'hello' } }], usage });
    const streamed = await counting.send({ headers: cached, body: { ...body, stream: true } });
    expect(streamed.header('x-svc-cache-status')).toBe('HIT');
    expect(streamed.text).not.toContain('"usage"');
  });

  it('a form that the stored reply cannot serve gets an entry of its own, until that reply is replaced', async () => {
    const gateway = createHarness();
    const replies = [
      chatStream(['old']),
      replyWith(200, chatReply('plain')),
      chatStream(['new']),
      replyWith(200, chatReply('last')),
    ];
    gateway.script(...replies);
    const send = async (extra: JsonObject, headers = {}) => {
      const reply = await gateway.send({ headers: { ...cached, ...headers }, body: { ...body, ...extra } });
      return [reply.header('x-svc-cache-status'), /old|plain|new|last/.exec(reply.text)?.[0]];
    };
    expect(await send({ stream: true })).toEqual(['MISS', 'old']);
    expect(await send({})).toEqual(['MISS', 'plain']);
    expect(await send({})).toEqual(['HIT', 'plain']);
    expect(await send({ stream: true })).toEqual(['HIT', 'old']);
    expect(await send({ stream: true }, { 'x-svc-cache-force-refresh': 'true' })).toEqual(['REFRESH', 'new']);
    expect(await send({})).toEqual(['MISS', 'last']);
    expect(gateway.calls).toHaveLength(4);
  });

  it('the order of keys does not matter, but exact numbers do', async () => {
    const gateway = createHarness();
    const send = async (text: string) => (await gateway.send({ headers: cached, body: text })).header('x-svc-cache-status');
    const messages = '"messages":[{"role":"user","content":"hi"}]';
    expect(await send(`{"model":"m",${messages},"seed":1}`)).toBe('MISS');
    expect(await send(`{"seed":1,${messages},"model":"m","stream":false}`)).toBe('HIT');
    expect(await send(`{"model":"m",${messages},"seed":9007199254740992}`)).toBe('MISS');
    expect(await send(`{"model":"m",${messages},"seed":9007199254740993}`)).toBe('MISS');
  });

  it.each([10, 10_000])(
    'a body of %i bytes with a name twice shares no entry: providers may read either value',
    async (length) => {
      const gateway = createHarness();
      const send = async (messages: string, model = 'm') => {
        const text = `{"model":"${model}","messages":[{"role":"user",${messages}}],"user":"${'x'.repeat(length)}"}`;
        return (await gateway.send({ headers: cached, body: text })).header('x-svc-cache-status');
      };
      const sent: (string | undefined)[] = [];
      for (const messages of ['"content":"other","content":"hi"', '"content":"hi"'])
        sent.push(await send(messages), await send(messages));
      expect(sent).toEqual(['MISS', 'HIT', 'MISS', 'HIT']);
    },
  );

  it('requests that a guardrail made equal do not share an entry', async () => {
    const gateway = createHarness();
    const config = {
      ...{ provider: '@one', cache: 'simple' },
      input_guardrails: [{ 'default.regexReplace': { rule: 'Ada|Grace', redactText: 'NAME' } }],
    };
    const ask = (name: string) =>
      gateway.send({
        headers: { 'x-svc-config': JSON.stringify(config) },
        body: { model: 'm', messages: [{ role: 'user', content: `who is ${name}` }] },
      });
    await ask('Ada');
    expect((await ask('Grace')).header('x-svc-cache-status')).toBe('MISS');
    expect((await ask('Ada')).header('x-svc-cache-status')).toBe('HIT');
  });

  it('are read by the OpenAI client: chat completions', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatOf(chats['tool calls'] as JsonObject)));
    const client = openAiOver(gateway, cached);
    await client.chat.completions.create(body as never);
    const final = await client.chat.completions.stream(body as never).finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject((chats['tool calls'] as JsonObject).tool_calls as object[]);
    expect(gateway.calls).toHaveLength(1);
  });

  it('are read by the OpenAI client: responses', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, response));
    const client = openAiOver(gateway, cached);
    await client.responses.create({ model: 'm', input: 'hi' });
    const final = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    expect(final.output_text).toBe('hello');
    expect(final.output).toHaveLength(5);
    expect(gateway.calls).toHaveLength(1);
  });

  it('are read by the Anthropic client', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, message));
    const client = new Anthropic({
      ...{ apiKey: gateway.key, baseURL: 'http://gateway.test', maxRetries: 0 },
      fetch: async (input, init) => {
        const request = new Request(input as string, init as RequestInit);
        const headers = { ...Object.fromEntries(request.headers), 'x-svc-config': '{"provider":"@claude","cache":"simple"}' };
        const sink = await gateway.send({
          ...{ method: request.method, path: '/v1/messages', headers },
          body: new Uint8Array(await request.arrayBuffer()),
        });
        const replied = new Headers();
        for (let i = 0; i < sink.headers.length; i += 2) replied.append(sink.headers[i] as string, sink.headers[i + 1] as string);
        return new Response(Buffer.concat(sink.chunks), { status: sink.status, headers: replied });
      },
    });
    const asked = { model: 'claude-x', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hi' }] };
    const plain = await client.messages.create(asked);
    const final = await client.messages.stream(asked).finalMessage();
    expect(final.content).toEqual(plain.content);
    expect(final.usage).toMatchObject(plain.usage);
    expect(gateway.calls).toHaveLength(1);
  });
});

const streamWithUsage: Script = (_call, handler) => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  handler.onHead(200, ['content-type', 'text/event-stream']);
  for (const event of [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'hel' }, finish_reason: null }], usage: null },
    { ...head, choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }], usage: null },
    { ...head, choices: [], usage },
  ]) {
    handler.onData(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  }
  handler.onData(Buffer.from('data: [DONE]\n\n'));
  handler.onEnd();
};
