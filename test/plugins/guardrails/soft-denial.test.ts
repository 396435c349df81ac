import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectsIn } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { responsesStream, streamOf } from '../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../core/test-kit/read-reply.ts';

const soft = { deny: true, soft_deny_200: true };
const contains = { 'default.contains': { words: ['secret'], operator: 'none' } };
const text = 'The guardrail checks defined in the config failed.';
const ask = [{ role: 'user', content: 'a secret' }];

async function send(config: JsonObject, path: string, body: JsonObject, ...scripts: Script[]) {
  const gateway = createHarness();
  if (scripts.length > 0) gateway.script(...scripts);
  const headers = { 'x-svc-config': JSON.stringify(config.targets ? config : { provider: '@one', ...config }) };
  const sink = await gateway.send({ path, headers, body: { model: 'm', ...body } });
  return { sink, calls: gateway.calls.length, record: gateway.records[0] };
}

describe('soft_deny_200', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      '/v1/chat/completions',
      { messages: ask },
      {
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      },
    ],
    [
      '/v1/completions',
      { prompt: 'a secret' },
      { object: 'text_completion', choices: [{ index: 0, text, finish_reason: 'stop' }] },
    ],
    [
      '/v1/messages',
      { messages: ask, max_tokens: 9 },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text }], stop_reason: 'end_turn' },
    ],
    [
      '/v1/responses',
      { input: 'a secret' },
      { object: 'response', status: 'completed', output: [{ type: 'message', content: [{ type: 'output_text', text }] }] },
    ],
  ])('%s: replies with a message of the assistant, recorded as denied', async (path, body, expected) => {
    const { sink, calls, record } = await send({ input_guardrails: [{ ...contains, ...soft, id: 'g' }] }, path, body);
    expect([sink.status, calls]).toEqual([200, 0]);
    expect(sink.json).toMatchObject({
      ...expected,
      hook_results: { before_request_hooks: [{ id: 'g', verdict: false, deny: true }] },
    });
    expect(record).toMatchObject({ outcome: 'refused', status: 200, guardrails: [{ id: 'g', deny: true }] });
  });

  it.each<[string, JsonObject, RegExp[]]>([
    ['/v1/chat/completions', { messages: ask }, [/"role":"assistant"/, /"finish_reason":"stop"/, /data: \[DONE\]\n\n$/]],
    ['/v1/completions', { prompt: 'a secret' }, [/"finish_reason":"stop"/, /data: \[DONE\]\n\n$/]],
    [
      '/v1/messages',
      { messages: ask, max_tokens: 9 },
      [/^event: message_start\n/, /"type":"text_delta"/, /event: message_stop\n/],
    ],
    [
      '/v1/responses',
      { input: 'a secret' },
      [/^event: response.created\n/, /"sequence_number":6/, /event: response.completed\n/],
    ],
  ])('%s: streams the message', async (path, body, expected) => {
    const { sink, calls } = await send({ input_guardrails: [{ ...contains, ...soft }] }, path, { ...body, stream: true });
    expect([sink.status, calls, sink.header('content-type')]).toEqual([200, 0, 'text/event-stream; charset=utf-8']);
    for (const pattern of [...expected, new RegExp(text)]) expect(sink.text).toMatch(pattern);
  });

  it('adds the usage of zero to a stream that asks for it', async () => {
    const body = { messages: ask, stream: true, stream_options: { include_usage: true } };
    const { sink } = await send({ input_guardrails: [{ ...contains, ...soft }] }, '/v1/chat/completions', body);
    expect(sink.text).toContain('"choices":[],"usage":{"prompt_tokens":0');
  });

  it.each<[string, JsonObject, number]>([
    ['routes without messages keep 446', { input_guardrails: [{ ...contains, ...soft }] }, 446],
    [
      'one guardrail that denies without it keeps 446',
      {
        input_guardrails: [
          { ...contains, ...soft },
          { ...contains, deny: true },
        ],
      },
      446,
    ],
  ])('%s', async (name, config, status) => {
    const [path, body] = name.startsWith('routes')
      ? ['/v1/embeddings', { input: 'a secret' }]
      : ['/v1/chat/completions', { messages: ask }];
    expect((await send(config, path as string, body as JsonObject)).sink.status).toBe(status);
  });

  it.each([[false], [true]])(
    'fails the attempt of a denied response with 446, its text does not leave, stream: %s',
    async (stream) => {
      const script = stream ? chatStream(['a sec', 'ret']) : replyWith(200, chatReply('a secret'));
      const config = { output_guardrails: [{ ...contains, ...soft, id: 'g' }] };
      const { sink, record } = await send(
        config,
        '/v1/chat/completions',
        { messages: [{ role: 'user', content: 'hi' }], stream },
        script,
      );
      expect(sink.status).toBe(200);
      expect(sink.text).toContain(text);
      expect(sink.text).not.toContain('sec');
      expect(record).toMatchObject({ outcome: 'failed', status: 200, attempts: [{ status: 446, errorCode: 'response_denied' }] });
      expect(record?.inputTokens).toBeGreaterThan(0);
    },
  );

  it('lets a fallback continue after a denied response', async () => {
    const targets = [{ provider: '@one', output_guardrails: [{ ...contains, ...soft }] }, { provider: '@two' }];
    const body = { messages: [{ role: 'user', content: 'hi' }] };
    const scripts = [replyWith(200, chatReply('a secret')), replyWith(200, chatReply('fine'))];
    const { sink, calls } = await send({ strategy: { mode: 'fallback' }, targets }, '/v1/chat/completions', body, ...scripts);
    expect([sink.status, calls]).toEqual([200, 2]);
    expect(sink.text).toContain('fine');
  });

  it.each<[string, JsonObject, typeof chatStream]>([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }, chatStream],
    ['/v1/messages', { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }, chatStream],
    ['/v1/responses', { input: 'hi' }, responsesStream],
  ])('%s: a stream in a window that has begun ends with the message', async (path, body, stream) => {
    const config = { output_guardrails: [{ ...contains, ...soft, stream: 'window' }] };
    const words = ['this is fine, ', 'but a sec', 'ret'];
    const { sink, record } = await send(config, path, { ...body, stream: true }, stream(words));
    expect(sink.status).toBe(200);
    expect(sink.text).toContain(text);
    expect(sink.text).not.toMatch(/sec|"type":"error"|response_denied/);
    expect(sink.text).toMatch(/data: \[DONE\]\n\n$|"type":"message_stop"\}\n\n$|"type":"response.completed".*\n\n$/);
    expect(record).toMatchObject({ outcome: 'cut', errorCode: 'response_denied' });
  });

  const openAi = { apiKey: 'k', maxRetries: 0 };
  const inWindow = { output_guardrails: [{ ...contains, ...soft, stream: 'window' }] };
  const served = (bytes: string) => ({
    fetch: async () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } }),
  });

  it('a stream of chat in a window ends choices that only call tools, and none twice', async () => {
    const chunk = (index: number, delta: JsonObject, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason }] })}\n\n`;
    const call = { tool_calls: [{ index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }] };
    const chunks = [chunk(0, { content: 'fine' }), chunk(0, {}, 'stop'), chunk(1, call), chunk(2, { content: 'a secret word' })];
    const body = { messages: [{ role: 'user', content: 'hi' }], stream: true };
    const { sink } = await send(inWindow, '/v1/chat/completions', body, streamOf(chunks));
    const ends = eventsOf(sink.text).flatMap((event) => objectsIn(event?.choices).filter((one) => one.finish_reason));
    expect(ends.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'stop'],
      [2, 'stop'],
    ]);
    expect(sink.text).not.toContain('secret');
  });

  it('a stream of chat in a window has its first choice, also if another one begins before it', async () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'm', created: 1 };
    const chunks = ['', 'a secret word'].map((content) => {
      const choices = [{ index: 1, delta: { role: 'assistant', content }, finish_reason: null }];
      return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
    });
    const body = { messages: [{ role: 'user', content: 'hi' }], stream: true };
    const { sink } = await send(inWindow, '/v1/chat/completions', body, streamOf(chunks));
    const client = new OpenAI({ ...openAi, ...served(sink.text) });
    const end = await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
    expect(end.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, text],
      [1, ''],
    ]);
  });

  it('a stream of Responses in a window keeps its id, so that OpenAI’s client reads its end', async () => {
    const { sink } = await send(
      inWindow,
      '/v1/responses',
      { input: 'hi', stream: true },
      responsesStream(['fine, but a sec', 'ret']),
    );
    const client = new OpenAI({ ...openAi, ...served(sink.text) });
    expect((await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()).output_text).toBe(text);
  });

  it('a stream of Messages in a window has the beginning of a block that ends it, if both came in one chunk', async () => {
    const { sink } = await send(
      { ...inWindow, provider: '@claude' },
      '/v1/messages',
      { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9, stream: true },
      streamOf([
        [{ type: 'message_start', message }, ...block(0, 'a')].map(event).join(''),
        block(1, 'a secret').map(event).join(''),
      ]),
    );
    const client = new Anthropic({ ...openAi, ...served(sink.text) });
    const end = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage();
    expect(end.content.map((given) => (given.type === 'text' ? given.text : null))).toEqual(['a', 'a ', text]);
  });

  it('a stream of chats in a window ends every choice', async () => {
    const piece = (index: number, content: string) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index, delta: { role: 'assistant', content }, finish_reason: null }] })}\n\n`;
    const script = streamOf([piece(0, 'this is fine, '), piece(1, ''), piece(1, 'but a secret '), piece(1, 'is told')]);
    const { sink } = await send(
      inWindow,
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'hi' }], stream: true },
      script,
    );
    const client = new OpenAI({ ...openAi, ...served(sink.text) });
    const end = await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
    expect(end.choices.map(({ finish_reason }) => finish_reason)).toEqual(['stop', 'stop']);
  });
});

const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'm',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const event = (data: JsonObject) => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;
const block = (index: number, given: string): JsonObject[] => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text: given } },
  { type: 'content_block_stop', index },
];
