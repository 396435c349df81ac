import { definePlugin, replyTexts, rewriteText, type TextRewriter } from 'svc-gateway/plugin';
import {
  chatReply,
  createTestGateway,
  messagesReply,
  messagesStream,
  providerReply,
  providerStream,
  responsesReply,
  type TestGateway,
} from 'svc-gateway/test-kit';
import { afterAll, describe, expect, it } from 'vitest';
import { createEventRewriter } from '../../../../../core/contract/plugin/text/rewrite-events.ts';
import { StreamRewriter } from '../../../../../core/contract/plugin/text/rewrite-stream.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { randomFrom } from '../../../../support/samples/random-from.ts';

const word = 'сéкрет🔒';

/** Replaces the word by MASK, and holds back text that may be its beginning. */
function maskWord(): TextRewriter {
  let held = '';
  return {
    next(piece) {
      held = (held + piece).replaceAll(word, 'MASK');
      let keep = Math.min(held.length, word.length - 1);
      while (keep > 0 && !word.startsWith(held.slice(-keep))) keep--;
      const sent = held.slice(0, held.length - keep);
      held = held.slice(held.length - keep);
      return sent;
    },
    end: () => held,
  };
}

const started: TestGateway[] = [];
afterAll(() => Promise.all(started.map((gateway) => gateway.close())));
function start(rewriter: () => TextRewriter | null = maskWord): TestGateway {
  const plugin = definePlugin({
    apiVersion: 1,
    name: 'rewriter',
    stage: 'output-guardrails',
    reads: { response: 'chunks' },
    onConfig: (_config, _scope, services) => rewriteText(services, rewriter),
  });
  const gateway = createTestGateway({ plugins: [plugin] });
  started.push(gateway);
  return gateway;
}

const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: { type: string; sequence_number?: number }): string => `event: ${event.type}\n${data(event)}`;
const chunk = (choice: object, more: object = {}): string =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }], ...more });

const chatEvents = (pieces: readonly string[]): string =>
  [
    chunk({ delta: { role: 'assistant', content: '' } }),
    ': a comment\n\n',
    ...pieces.map((content) => chunk({ delta: { content }, logprobs: { content: [{ token: content }] } })),
    chunk({
      delta: { tool_calls: [{ index: 0, id: 'call', type: 'function', function: { name: 'f', arguments: `{"a":"${word}"}` } }] },
    }),
    chunk({ delta: {}, finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ].join('');

const messagesEvents = (pieces: readonly string[]): string =>
  [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: `{"a":"${word}"}` } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
    .map(named)
    .join('');

function responsesEvents(pieces: readonly string[]): string {
  const part = { type: 'output_text', text: pieces.join(''), annotations: [] };
  const call = { id: 'f', type: 'function_call', call_id: 'c', name: 'f', arguments: `{"a":"${word}"}`, status: 'completed' };
  const item = { id: 'i', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const response = {
    id: 'r',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [item, call],
    usage: null,
  };
  const place = { item_id: 'i', output_index: 0, content_index: 0 };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text: part.text },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.function_call_arguments.done', output_index: 1, item_id: 'f', arguments: call.arguments },
    { type: 'response.output_item.done', output_index: 1, item: call },
    { type: 'response.completed', response },
  ]
    .map((event, sequence_number) => named({ ...event, sequence_number }))
    .join('');
}

/** Route, model and events of the provider. The last rows are translated. */
const routes: [string, string, string, (pieces: readonly string[]) => string][] = [
  ['chat', '/v1/chat/completions', '@openai/m', chatEvents],
  ['messages', '/v1/messages', '@anthropic/m', messagesEvents],
  ['responses', '/v1/responses', '@openai/m', responsesEvents],
  ['chat over messages', '/v1/chat/completions', '@anthropic/m', messagesEvents],
  ['messages over chat', '/v1/messages', '@openai/m', chatEvents],
  ['responses over messages', '/v1/responses', '@anthropic/m', messagesEvents],
];
const bodyOf = (path: string, model: string) =>
  path === '/v1/responses'
    ? { model, input: 'hi', stream: true }
    : { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], stream: true };

/** Splits a text or bytes at random places. */
function split<T extends { slice(from: number, to: number): T; readonly length: number }>(whole: T, random: () => number): T[] {
  const parts: T[] = [];
  for (let at = 0; at < whole.length; ) {
    const next = Math.min(whole.length, at + 1 + Math.floor(random() * random() * 60));
    parts.push(whole.slice(at, next));
    at = next;
  }
  return parts;
}

describe('rewriteText: streams', () => {
  const text = `one ${word} two ${word.slice(0, 4)} three ${word}${word} end ${word.slice(0, 3)}`;
  const expected = text.replaceAll(word, 'MASK');

  it.each(routes)(
    '%s: any split of text and bytes gives the same text, and tool calls stay',
    async (_, path, model, events) => {
      const gateway = start();
      const random = randomFrom(7);
      for (let run = 0; run < 60; run++) {
        // Whole characters, as providers send them.
        const pieces = split([...text], random).map((characters) => characters.join(''));
        gateway.provider(providerStream(split(Buffer.from(events(pieces)), random)));
        const reply = await gateway.send({ path, body: bodyOf(path, model) });
        expect([reply.status, reply.content]).toEqual([200, expected]);
        const toolCall = JSON.stringify(`{"a":"${word}"}`).slice(1, -1);
        const others = reply.text.replaceAll(toolCall, '').replaceAll(JSON.stringify(word).slice(1, -1), word);
        expect(others.includes(word)).toBe(false);
        expect(reply.text).toContain(toolCall);
      }
    },
    120_000,
  );

  it('responses: repeats the rewritten text in later events, with rising sequence numbers', async () => {
    const gateway = start();
    gateway.provider(providerStream([responsesEvents(['a ', word, ` b ${word.slice(0, 2)}`])]));
    const { events } = await gateway.send({ path: '/v1/responses', body: bodyOf('/v1/responses', '@openai/m') });
    const whole = `a MASK b ${word.slice(0, 2)}`;
    const byType = Object.fromEntries(events.map((event) => [event.type, event]));
    expect(byType['response.output_text.done']).toMatchObject({ text: whole });
    expect(byType['response.content_part.done']).toMatchObject({ part: { text: whole } });
    expect(byType['response.completed']).toMatchObject({ response: { output: [{ content: [{ text: whole }] }, {}] } });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  });

  it('chat: keeps choices apart, and removes token probabilities', async () => {
    const gateway = start();
    const half = [word.slice(0, 3), word.slice(3)];
    const both = half.flatMap((content) =>
      [0, 1].map((index) => chunk({ index, delta: { content }, logprobs: { content: [content] } })),
    );
    const ends = [0, 1].map((index) => chunk({ index, delta: {}, finish_reason: 'stop' }));
    gateway.provider(providerStream([...both, ...ends, 'data: [DONE]\n\n']));
    const { text, events } = await gateway.send({ stream: true });
    const contents = [0, 1].map((index) =>
      events
        .flatMap((event) => event.choices as { index: number; delta: { content?: string } }[])
        .filter((choice) => choice.index === index)
        .map((choice) => choice.delta.content ?? '')
        .join(''),
    );
    expect(contents).toEqual(['MASK', 'MASK']);
    expect(text).not.toContain(word.slice(0, 3));
  });

  it('chat: rewrites a text beside the delta too', async () => {
    const gateway = start();
    const pieces = ['x ', word.slice(0, 3), word.slice(3)].map((text) => chunk({ text, delta: { content: text } }));
    gateway.provider(
      providerStream([...pieces, chunk({ text: '', delta: { content: '' }, finish_reason: 'stop' }), 'data: [DONE]\n\n']),
    );
    const { content, text } = await gateway.send({ stream: true });
    expect(content).toBe('x MASK');
    expect(text).not.toContain(word.slice(0, 3));
  });

  it('chat: sends held text before the end mark if no finish reason came', async () => {
    const gateway = start();
    gateway.provider(providerStream([chunk({ delta: { content: `x ${word.slice(0, 2)}` } }), 'data: [DONE]\n']));
    const reply = await gateway.send({ stream: true });
    expect(reply.content).toBe(`x ${word.slice(0, 2)}`);
    expect(reply.text.trimEnd().endsWith('[DONE]')).toBe(true);
  });

  it('rewrites a large event that comes in small chunks, with any line end', async () => {
    const gateway = start();
    const text = `${'x'.repeat(300_000)} ${word}`;
    const frames = chatEvents([text]).replaceAll('\n', '\r\n');
    const bytes = Buffer.from(frames);
    gateway.provider(
      providerStream(Array.from({ length: Math.ceil(bytes.length / 100) }, (_, at) => bytes.subarray(at * 100, at * 100 + 100))),
    );
    const { content } = await gateway.send({ stream: true });
    expect(content.length).toBe(text.length - word.length + 4);
    expect(content.endsWith('x MASK')).toBe(true);
  });

  it.each([
    ['a byte order mark', (events: string) => `\ufeff${events}`],
    ['LF and CR LF', (events: string) => events.replaceAll('\n\n', '\n\r\n')],
    ['CR', (events: string) => events.replaceAll('\n', '\r')],
  ])('rewrites events with %s', async (_, form) => {
    const gateway = start();
    gateway.provider(
      providerStream([
        form(`${chunk({ delta: { content: `x ${word} ` } })}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`),
      ]),
    );
    const { text } = await gateway.send({ stream: true });
    expect(text).toContain('x MASK ');
    expect(text).not.toContain(word);
  });

  it('leaves replies alone if there is no rewriter for the request', async () => {
    const gateway = start(() => null);
    gateway.provider(providerStream([chatEvents([word])]));
    expect((await gateway.send({ stream: true })).content).toBe(word);
  });
});

describe('rewriteText: line ends with CR', () => {
  const rewritten = (stream: string, size: number): string => {
    const rewriter = new StreamRewriter(createEventRewriter('chat', maskWord));
    const bytes = Buffer.from(stream);
    let text = '';
    for (let at = 0; at < bytes.length; at += size) text += Buffer.from(rewriter.next(bytes.subarray(at, at + size)) ?? []);
    return text;
  };

  it.each([1, 2, 3, 1000])('sends the last event without waiting for an LF, in chunks of %i bytes', (size) => {
    const events = `${chunk({ delta: { content: `x ${word.slice(0, 2)}` } })}data: [DONE]\n\n`;
    const text = rewritten(events.replaceAll('\n', '\r'), size);
    expect(text).toContain(`"content":"${word.slice(0, 2)}"`);
    expect(text.endsWith('data: [DONE]\r\r')).toBe(true);
  });

  it.each([1, 2, 3, 5, 1000])('ends each event once if its last LF comes later, in chunks of %i bytes', (size) => {
    const text = rewritten('data: {"a":1}\r\n\r\ndata: {"a":2}\r\n\r\ndata: [DONE]\r\n\r\n', size);
    const events = text.split(/(?:\r\n|\r|\n){2,}/);
    expect(events).toEqual(['data: {"a":1}', 'data: {"a":2}', 'data: [DONE]', '']);
  });
});

describe('rewriteText: streams that cannot be rewritten', () => {
  const rewriter = () => new StreamRewriter(createEventRewriter('chat', maskWord));

  it('fails for an event that is not JSON, and passes comments and empty data', () => {
    expect(Buffer.from(rewriter().next(Buffer.from(': ping\n\ndata:\n\n')) ?? []).toString()).toBe(': ping\n\ndata:\n\n');
    expect(() => rewriter().next(Buffer.from(`data: ${word}\n\n`))).toThrow('cannot be read');
  });

  it('fails for an event of more than 32 MiB', () => {
    const stream = rewriter();
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < 32; sent++) expect(stream.next(chunk)).toBeNull();
    expect(() => stream.next(chunk)).toThrow('more than');
  });

  it('fails for a line behind a byte order mark, which some clients read and others do not', () => {
    const event = `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } })}\n\n`;
    const rewriter = new StreamRewriter(createEventRewriter('messages', maskWord));
    expect(() => rewriter.next(Buffer.from(`event: ping\n\n\ufeff${event}`))).toThrow('cannot be rewritten');
  });
});

describe('rewriteText: plain replies', () => {
  it.each([
    ['/v1/chat/completions', chatReply(`a ${word}`)],
    ['/v1/messages', messagesReply(`a ${word}`)],
    ['/v1/responses', responsesReply(`a ${word}`)],
    [
      '/v1/completions',
      { id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [{ index: 0, text: `a ${word}` }] },
    ],
  ])('%s', async (path, body) => {
    const gateway = start();
    gateway.provider(providerReply(200, body));
    const more = path === '/v1/completions' ? { body: { model: '@openai/m', prompt: 'hi' } } : {};
    const reply = await gateway.send({ path, ...more });
    expect([reply.status, reply.content]).toEqual([200, 'a MASK']);
  });

  it('leaves errors of the provider and other routes alone', async () => {
    const gateway = start();
    gateway.provider(
      providerReply(400, { error: { message: word } }),
      providerReply(200, { data: [{ embedding: [1] }], model: word }),
    );
    expect((await gateway.send()).text).toContain(word);
    const embedding = await gateway.send({ path: '/v1/embeddings', body: { model: '@openai/e', input: 'x' } });
    expect([embedding.status, embedding.json.model]).toEqual([200, word]);
  });
});

describe('replyTexts', () => {
  const seen: string[][] = [];
  const judge = definePlugin({
    apiVersion: 1,
    name: 'judge',
    stage: 'output-guardrails',
    reads: { response: 'body' },
    onConfig: () => ({ onAttemptResponse: (ctx, response) => void seen.push(replyTexts(ctx, response)) }),
  });
  const gateway = createTestGateway({ plugins: [judge] });
  started.push(gateway);

  it.each(routes)('%s: returns the whole text of a stream that splits it', async (_, path, model, events) => {
    const random = randomFrom(9);
    const pieces = split([...`one ${word} two`], random).map((characters) => characters.join(''));
    gateway.provider(providerStream([events(pieces)]));
    expect((await gateway.send({ path, body: bodyOf(path, model) })).status).toBe(200);
    expect(seen.pop()).toEqual([`one ${word} two`]);
  });

  it.each<[string, string, JsonObject, string[]]>([
    ['each choice of a plain reply', '/v1/chat/completions', { ...chatReply('a') }, ['a']],
    ['the body of other routes', '/v1/embeddings', { data: ['x'] }, ['{"data":["x"]}']],
  ])('returns %s', async (_, path, body, expected) => {
    gateway.provider(providerReply(200, body));
    const more = path === '/v1/embeddings' ? { body: { model: '@openai/m', input: 'hi' } } : {};
    expect((await gateway.send({ path, ...more })).status).toBe(200);
    expect(seen.pop()).toEqual(expected);
  });
});

it('a stream whose events would repeat a long text far too often is not rewritten', () => {
  const stream = new StreamRewriter(createEventRewriter('responses', maskWord));
  const at = { output_index: 0, content_index: 0 };
  stream.next(Buffer.from(data({ type: 'response.output_text.delta', ...at, delta: 'a'.repeat(500_000) })));
  const done = Buffer.from(data({ type: 'response.output_text.done', ...at }));
  const send = () => {
    for (let i = 0; i < 1_000; i++) stream.next(done);
  };
  expect(send).toThrow('more than 20 times as long');
});

it.each([false, true])('native blocks do not repeat a rewritten text; streamed: %s', async (stream) => {
  const gateway = start();
  gateway.provider(
    stream ? messagesStream([`a ${word.slice(0, 3)}`, word.slice(3)]) : providerReply(200, messagesReply(`a ${word}`)),
  );
  const config = { provider: '@anthropic', strict_open_ai_compliance: false };
  const reply = await gateway.send({
    config,
    stream,
    body: { model: 'claude', messages: [{ role: 'user', content: 'hi' }], stream },
  });
  expect(reply.content).toBe('a MASK');
  expect(reply.text).not.toContain(word.slice(3));
});
