import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../core/contract/provider/upstream.ts';
import type { BodyConsumer, RequestBody } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { mockSender } from '../../../../core/providers/mock/in-process.ts';
import { mock } from '../../../../core/providers/mock/index.ts';
import { repliesOfEvents, repliesOfReply } from '../assemble-reply.ts';
import { callOf } from '../contract-suite.ts';
import { eventsOfText } from '../event-stream-text.ts';
import { heldClock, mockCall, record } from './recorded-exchange.ts';

const hello = [{ role: 'user', content: 'hello out there' }];

function play(body: unknown, extra: Partial<UpstreamCall> = {}) {
  const clock = heldClock();
  const recording = record(mockSender(clock), mockCall(body, extra));
  clock.advance(0);
  return { clock, recording };
}

describe('mock replies', () => {
  it('repeat the last user message, plain and streamed, with equal counts', () => {
    const plain = play({ model: 'echo', messages: hello }).recording;
    expect([plain.status, plain.ended]).toEqual([200, true]);
    expect(repliesOfReply('chatComplete', plain.json())[0]?.text).toBe('hello out there');
    const body = { model: 'echo', messages: hello, stream: true, stream_options: { include_usage: true } };
    const events = eventsOfText(play(body).recording.text());
    expect(repliesOfEvents('chatComplete', events)).toEqual(repliesOfReply('chatComplete', plain.json()));
    expect(events.at(-1)?.data).toBe('[DONE]');
    expect(events.at(-2)?.data).toMatchObject({ choices: [], usage: plain.json().usage as object });
  });

  it('ignore a maximum of tokens that is an object without a text form', () => {
    expect(play({ model: 'echo', messages: hello, max_tokens: { toString: 1 } }).recording.status).toBe(200);
  });

  it('have no token counts in a stream by default, and never with usage=none', () => {
    expect(play({ model: 'echo', messages: hello, stream: true }).recording.text()).not.toContain('usage');
    expect(play({ model: 'echo;usage=none', messages: hello }).recording.json()).not.toHaveProperty('usage');
  });

  it('stream fixed text in the requested number of pieces', () => {
    const events = eventsOfText(play({ model: 'text:abcdefgh;chunks=4', messages: hello, stream: true }).recording.text());
    const deltas = events.flatMap(({ data }) =>
      typeof data === 'string' ? [] : (data.choices as { delta: { content?: string } }[]),
    );
    expect(deltas.map((choice) => choice.delta.content).filter(Boolean)).toEqual(['ab', 'cd', 'ef', 'gh']);
  });

  it('end with length at the token limit', () => {
    const reply = play({ model: 'echo', messages: hello, max_tokens: 2 }).recording.json();
    expect(repliesOfReply('chatComplete', reply)[0]).toMatchObject({ text: 'hello out', finish: 'length' });
  });

  it('call a tool with arguments of its schema, then reply to its result with text', () => {
    const tools = [
      { type: 'function', function: { name: 'sum', parameters: { type: 'object', properties: { a: { type: 'integer' } } } } },
    ];
    const plain = play({ model: 'tool=sum', messages: hello, tools }).recording.json();
    const called = { toolCalls: [{ name: 'sum', arguments: { a: 1 } }], finish: 'tool_calls' };
    expect(repliesOfReply('chatComplete', plain)[0]).toMatchObject(called);
    const streamed = play({ model: 'tool=sum', messages: hello, tools, stream: true }).recording.text();
    expect(repliesOfEvents('chatComplete', eventsOfText(streamed))[0]).toMatchObject(called);
    const after = play({ model: 'tool=sum', messages: [...hello, { role: 'tool', content: '42' }], tools }).recording.json();
    expect(repliesOfReply('chatComplete', after)[0]).toMatchObject({ text: '42', toolCalls: [], finish: 'stop' });
  });

  it('are JSON of the response format', () => {
    const schema = {
      $ref: '#/$defs/n',
      $defs: { n: { type: 'object', properties: { name: { type: 'string' }, kids: { type: 'array', items: { enum: ['a'] } } } } },
    };
    const body = { model: 'text:x;json', messages: hello, response_format: { type: 'json_schema', json_schema: { schema } } };
    const [reply] = repliesOfReply('chatComplete', play(body).recording.json());
    expect(JSON.parse(reply?.text ?? '')).toEqual({ name: 'x', kids: ['a'] });
  });

  it('complete text prompts', () => {
    const reply = play({ model: 'echo', prompt: 'once upon' }, { path: '/v1/completions' }).recording.json();
    expect(reply).toMatchObject({ object: 'text_completion', choices: [{ text: 'once upon', finish_reason: 'stop' }] });
  });

  it('embed the same text as the same unit vector, as numbers and as base64', () => {
    const embed = (extra: object): unknown[] => {
      const body = { model: 'echo', input: ['blue', 'green'], dimensions: 16, ...extra };
      return (play(body, { path: '/v1/embeddings' }).recording.json().data as { embedding: unknown }[]).map(
        (row) => row.embedding,
      );
    };
    const [blue, green] = embed({}) as [number[], number[]];
    expect(embed({})).toEqual([blue, green]);
    expect(blue).not.toEqual(green);
    expect(Math.hypot(...blue)).toBeCloseTo(1, 5);
    const [encoded] = embed({ encoding_format: 'base64' }) as [string];
    const bytes = Buffer.from(encoded, 'base64');
    expect(Array.from({ length: 16 }, (_, i) => bytes.readFloatLE(4 * i))).toEqual(blue);
  });
});

it('a moderation of the mock has every category of OpenAI', () => {
  const { recording } = play({ model: 'echo', input: ['a', 'b'] }, { path: '/v1/moderations' });
  const [first, second] = recording.json().results as [JsonObject, JsonObject];
  expect(first).toMatchObject({ flagged: false, categories: { hate: false, 'self-harm/intent': false } });
  const categories = Object.keys(first.categories as JsonObject);
  expect(categories).toHaveLength(13);
  expect(Object.keys(first.category_scores as JsonObject)).toEqual(categories);
  expect(second).toEqual(first);
});

describe('injected mock errors', () => {
  it('have the status and retry-after of the model name', () => {
    const { recording } = play({ model: 'status=429;retry-after=2', messages: hello });
    expect(recording.status).toBe(429);
    expect(recording.headers.join('=')).toContain('retry-after=2');
    expect(recording.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
  });

  it.each([
    ['no-such-model', 404, 'echo or text:<words>'],
    ['echo;colour=red', 400, 'no option "colour"'],
    ['echo;delay=soon', 400, 'delay: needs a whole number'],
    ['echo;tool=', 400, 'tool: needs the name'],
    [`echo;tool=${'f,'.repeat(129)}`, 400, 'tool: can have at most 128 functions'],
  ])('explain %s', (model, status, words) => {
    const { recording } = play({ model, messages: hello });
    expect(recording.status).toBe(status);
    expect((recording.json().error as { message: string }).message).toContain(words);
  });

  it('include a body that is not a JSON object, and one without a model', () => {
    expect(play('{"model":').recording.status).toBe(400);
    expect(play([]).recording.status).toBe(400);
    expect(play({ messages: hello }).recording.json()).toMatchObject({ error: { param: 'model' } });
  });

  it.each([
    ['/v1/chat/completions', 'messages'],
    ['/v1/completions', 'prompt'],
    ['/v1/embeddings', 'input'],
    ['/v1/audio/speech', 'input'],
    ['/v1/images/generations', 'prompt'],
    ['/v1/moderations', 'input'],
    ['/v1/rerank', 'documents'],
  ])('include a missing required parameter: %s, %s', (path, param) => {
    const { recording } = play({ model: 'echo' }, { path });
    expect(recording.status).toBe(400);
    expect(recording.json().error).toEqual({
      message: `Missing required parameter: '${param}'.`,
      type: 'invalid_request_error',
      param,
      code: 'missing_required_parameter',
    });
  });

  it('include a Messages call without max_tokens', () => {
    const params = { model: 'echo', messages: hello };
    expect(() => mock.operations.messages?.toProvider?.(params, callOf(params, {}, {}))).toThrow(/^max_tokens: required/);
  });

  it('cut a stream after a number of events and a plain reply after a number of bytes', () => {
    const streamed = play({ model: 'echo;cut=3', messages: hello, stream: true }).recording;
    expect(eventsOfText(streamed.text())).toHaveLength(3);
    expect([streamed.ended, streamed.error?.code]).toEqual([false, 'upstream_reset']);
    const plain = play({ model: 'echo;cut=5', messages: hello }).recording;
    expect([plain.status, plain.text().length, plain.error?.code]).toEqual([200, 5, 'upstream_reset']);
    const early = play({ model: 'echo;cut=0', messages: hello }).recording;
    expect([early.status, early.error?.code]).toEqual([null, 'upstream_reset']);
    expect([streamed, plain, early].map(({ error }) => error?.message)).toEqual([
      ...Array(2).fill('The provider closed the connection before its reply was complete'),
      'The provider closed the connection before it replied',
    ]);
  });

  it('stall until the time limit for the first byte, for silence, or for the whole call', () => {
    const call = { timeouts: { connectMs: 0, firstByteMs: 500, idleMs: 700, totalMs: 0 } };
    const never = play({ model: 'stall', messages: hello, stream: true }, call);
    never.clock.advance(499);
    expect([never.recording.status, never.recording.error]).toEqual([null, null]);
    never.clock.advance(1);
    expect(never.recording.error?.code).toBe('request_timeout');

    const half = play({ model: 'stall=2', messages: hello, stream: true }, call);
    half.clock.advance(699);
    expect([half.recording.chunks.length, half.recording.error]).toEqual([2, null]);
    half.clock.advance(1);
    expect(half.recording.error?.code).toBe('request_timeout');

    const slow = play(
      { model: 'echo;cadence=100', messages: hello, stream: true },
      { timeouts: { ...call.timeouts, totalMs: 250 } },
    );
    slow.clock.advance(250);
    expect([slow.recording.chunks.length, slow.recording.error?.code]).toEqual([3, 'request_timeout']);
    expect(slow.clock.pending()).toBe(0);
  });
});

describe.each(['/v1/audio/transcriptions', '/v1/audio/translations'])('a mock call to %s', (path) => {
  const hear = async (fields: Readonly<Record<string, string | Blob>>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value as string);
    const sent = new Response(form);
    const headers = ['content-type', sent.headers.get('content-type') as string];
    const recording = record(mockSender(), mockCall('', { path, headers, body: new Uint8Array(await sent.arrayBuffer()) }));
    await recording.over;
    return [recording.status, recording.json()];
  };
  const file = new Blob(['twelve bytes']);

  it('returns the number of received audio bytes', async () => {
    expect(await hear({ model: 'echo', file })).toEqual([200, { text: '12 bytes were heard' }]);
  });

  it('has the members of a verbose transcript', async () => {
    const text = '12 bytes were heard';
    const verbose = { language: 'english', duration: 1, text, segments: [] };
    expect(await hear({ model: 'echo', file, response_format: 'verbose_json' })).toEqual([200, verbose]);
  });

  it.each([
    ['no file', { model: 'echo' }, 'file'],
    ['a text in place of the file', { model: 'echo', file: 'a.wav' }, 'file'],
    ['no model', { file }, 'model'],
  ])('rejects a form with %s', async (_, fields, param) => {
    expect(await hear(fields)).toMatchObject([400, { error: { param, type: 'invalid_request_error' } }]);
  });

  it('has the status of the model name', async () => {
    expect(await hear({ model: 'status=503', file })).toMatchObject([503, { error: { type: 'server_error' } }]);
  });

  it('rejects a body that is not a form', async () => {
    const headers = ['content-type', 'multipart/form-data; boundary=x'];
    const recording = record(mockSender(), mockCall('nothing', { path, headers }));
    await recording.over;
    expect([recording.status, recording.json()]).toMatchObject([400, { error: { message: expect.stringContaining('form') } }]);
  });
});

describe('mock timing and flow control', () => {
  it('waits before the head and between events', () => {
    const timeouts = { connectMs: 0, firstByteMs: 9_000, idleMs: 9_000, totalMs: 9_000 };
    const { clock, recording } = play({ model: 'echo;delay=200;cadence=50', messages: hello, stream: true }, { timeouts });
    clock.advance(199);
    expect(recording.status).toBe(null);
    clock.advance(1);
    expect([recording.status, recording.chunks.length]).toEqual([200, 1]);
    clock.advance(50);
    expect(recording.chunks.length).toBe(2);
    clock.advance(1000);
    expect([recording.ended, clock.pending()]).toEqual([true, 0]);
  });

  it('calls no handler before send has returned', async () => {
    const recording = record(mockSender(), mockCall({ model: 'echo', messages: hello }));
    expect(recording.status).toBe(null);
    await recording.over;
    expect(recording.status).toBe(200);
  });

  it('pauses without the pause counting as silence, and continues after resume', () => {
    const clock = heldClock();
    const sender = mockSender(clock);
    const timeouts = { connectMs: 0, firstByteMs: 0, idleMs: 300, totalMs: 0 };
    const recording = record(sender, mockCall({ model: 'echo', messages: hello, stream: true }, { timeouts }));
    recording.accepts = false;
    clock.advance(1000);
    expect([recording.chunks.length, recording.error]).toEqual([1, null]);
    recording.accepts = true;
    recording.exchange.resume();
    clock.advance(0);
    expect(recording.ended).toBe(true);
    expect(recording.text()).toContain('[DONE]');
  });

  it('is silent after abort', () => {
    const { clock, recording } = play({ model: 'echo;cadence=50', messages: hello, stream: true });
    clock.advance(50);
    recording.exchange.abort();
    recording.exchange.abort();
    recording.exchange.resume();
    clock.advance(10_000);
    expect([recording.chunks.length, recording.ended, recording.error, clock.pending()]).toEqual([2, false, null, 0]);
  });
});

describe('mock pass-through', () => {
  it('returns the request without credentials', () => {
    const bytes = randomBytes(70_000);
    const { recording } = play('', {
      method: 'PUT',
      path: '/v1/anything/%2e%2e/x?b=2&a',
      headers: ['x-kept', 'yes', 'authorization', 'Bearer secret', 'x-api-key', 'secret', 'cookie', 'secret'],
      body: bytes,
    });
    expect(recording.json()).toEqual({
      object: 'mock.request',
      method: 'PUT',
      path: '/v1/anything/%2e%2e/x?b=2&a',
      headers: { 'x-kept': 'yes' },
      body: { bytes: 70_000, sha256: createHash('sha256').update(bytes).digest('hex') },
    });
  });

  it('counts the bytes of a body as it streams', () => {
    let consumer: BodyConsumer | null = null;
    const body = {
      length: -1,
      pipe: (to: BodyConsumer) => {
        consumer = to;
        return { resume() {}, discard() {} };
      },
    } as unknown as RequestBody;
    const { clock, recording } = play('', { path: '/v1/files', body });
    const to = consumer as unknown as BodyConsumer;
    for (let i = 0; i < 3; i++) expect(to.onData(Buffer.alloc(1000, i))).toBe(true);
    expect(recording.status).toBe(null);
    to.onEnd();
    clock.advance(0);
    expect(recording.json().body).toMatchObject({ bytes: 3000 });
  });

  it('fails the exchange if the client aborts its body', () => {
    let consumer: BodyConsumer | null = null;
    const body = {
      length: -1,
      pipe: (to: BodyConsumer) => {
        consumer = to;
        return { resume() {}, discard() {} };
      },
    } as unknown as RequestBody;
    const { recording } = play('', { path: '/v1/files', body });
    (consumer as unknown as BodyConsumer).onError(new Error('gone'));
    expect(recording.error?.code).toBe('internal');
  });
});
