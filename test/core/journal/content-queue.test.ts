import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  CapturedBytes,
  type CapturedContent,
  type CapturedExchange,
  ContentCapture,
} from '../../../core/contract/plugin/record/content-capture.ts';
import type { InternalFetch } from '../../../core/contract/protocol/internal-api.ts';
import type { RecordContent } from '../../../core/contract/protocol/record-contents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { ContentQueue } from '../../../core/journal/content-queue.ts';
import { createMasks } from '../../../core/journal/mask-content.ts';
import { prepareContent } from '../../../core/journal/prepare-content.ts';
import { mergeStream } from '../../../plugins/cache/forms/convert.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const id = '11111111-1111-4111-8111-111111111111';
const json = ['content-type', 'application/json'];

function captured(reply: string | Uint8Array, more: Partial<CapturedContent> & { headers?: string[]; max?: number } = {}) {
  const { headers = json, max = 1_000, ...rest } = more;
  const capture = new ContentCapture(max);
  capture.whole(headers, reply);
  const base = { id, createdAt: '2026-11-22T00:00:00.000Z', organisationId: id, workspaceId: id, operation: 'chatComplete' };
  return {
    ...base,
    prompt: null,
    requestHeaders: json,
    maskedHeaders: [],
    requestBody: Buffer.from('{"a":1}'),
    reply: capture,
    ...rest,
  } as CapturedContent;
}

const prepare = (content: CapturedContent) => prepareContent(content, createMasks([], []), mergeStream, 1_000);

describe('contents of a request', () => {
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta }], ...more })}\n\n`;
  const stream = `${chunk({ role: 'assistant', content: 'Hel' })}${chunk({ content: 'lo' })}`;
  const events = ['content-type', 'text/event-stream'];

  it('keep only the body of an error if no others are stored, also a compressed one', () => {
    const reply = new ContentCapture(1_000, true);
    reply.whole([...json, 'content-encoding', 'gzip'], gzipSync('{"error":"Bearer abcdefghijklmnopqrstuvwxyz"}'));
    const content = prepare(captured('', { reply, requestHeaders: [], requestBody: new Uint8Array() }));
    expect(content.request).toEqual({ headers: {}, body: null, omitted: 'not_stored' });
    expect(content.response).toEqual({ headers: {}, body: { error: 'Bearer ***' }, omitted: null });
  });

  it('hold a stream as one reply, with its usage if it has one', () => {
    const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 3 } })}\n\n`;
    const message = { index: 0, message: { role: 'assistant', content: 'Hello' } };
    const { body } = prepare(captured(`${stream}data: [DONE]\n\n`, { headers: events })).response;
    expect(body).toMatchObject({ object: 'chat.completion', choices: [message] });
    expect(body).not.toHaveProperty('usage');
    expect(prepare(captured(`${stream}${usage}data: [DONE]\n\n`, { headers: events })).response.body).toMatchObject({
      choices: [message],
      usage: { total_tokens: 3 },
    });
  });

  it.each([
    ['a stream that was cut by the limit, as text', captured('x'.repeat(1_500), { headers: events }), 'x'.repeat(1_000), 'cut'],
    [
      'a stream of another kind, as text',
      captured('data: {"a":1}\n\n', { headers: events, operation: null }),
      'data: {"a":1}\n\n',
      null,
    ],
    ['a compressed reply', captured(gzipSync('{"b":2}'), { headers: [...json, 'content-encoding', 'gzip'] }), { b: 2 }, null],
    [
      'a reply in an alias of gzip',
      captured(gzipSync('{"b":2}'), { headers: [...json, 'content-encoding', 'x-gzip'] }),
      { b: 2 },
      null,
    ],
    ['no audio', captured(Buffer.from([1, 2, 3]), { headers: ['content-type', 'audio/mpeg'] }), null, 'binary'],
    [
      'no vectors',
      captured('{"data":[{"index":0,"embedding":[1,2]}]}', { operation: 'embed' }),
      { data: [{ index: 0, embedding: null }] },
      null,
    ],
    ['text that is no JSON', captured('{"a":'), '{"a":', null],
    ['no fields with credentials in such a text', captured('{"password":"abc",'), '{"password":"***",', null],
    ['no body', captured(''), null, null],
  ])('hold %s', (_, content, body, omitted) => {
    expect(prepare(content).response).toMatchObject({ body, omitted });
  });

  it('name a request body that was passed on without being held, and one that is too long', () => {
    expect(prepare(captured('', { requestBody: null })).request).toMatchObject({ body: null, omitted: 'not_held' });
    const long = prepare(captured('', { requestBody: Buffer.from('y'.repeat(2_000)) })).request;
    expect(long).toMatchObject({ body: 'y'.repeat(1_000), omitted: 'cut' });
  });

  it('hold the variables of a prompt masked, and as cut text if they are too long', () => {
    const withVariables = (variables: JsonObject) => prepare(captured('', { prompt: { variables, bytes: 10 } })).prompt;
    expect(withVariables({ name: 'Ann', password: 'open sesame', note: `key sk-${'a'.repeat(24)}` })).toEqual({
      variables: { name: 'Ann', password: '***', note: 'key sk-***' },
      omitted: null,
    });
    const text = JSON.stringify({ long: 'z'.repeat(2_000) }).slice(0, 1_000);
    expect(withVariables({ long: 'z'.repeat(2_000) })).toEqual({ variables: text, omitted: 'cut' });
    expect(prepare(captured(''))).not.toHaveProperty('prompt');
  });
});

describe('the call to the provider', () => {
  function exchanged(more: Partial<CapturedExchange>, response: string, reply = response) {
    const received = new CapturedBytes(1_000);
    received.headers = json;
    received.add(Buffer.from(response));
    const content = captured(reply);
    content.reply.exchange = {
      ...{ url: 'https://provider.example/v1/chat', method: 'POST', headers: json, body: content.requestBody, params: null },
      ...{ status: 200, response: received },
      ...more,
    };
    return content;
  }
  const unchanged = { body: null, omitted: 'unchanged' };

  it('is absent if none was sent', () => {
    expect(prepare(captured('{}'))).not.toHaveProperty('exchange');
  });

  it('refers to the bodies of the request and the reply if they are equal, also in other pieces', () => {
    const content = exchanged({ body: Buffer.from('{"a":1}') }, '{"b":2}');
    const pieces = new CapturedBytes(1_000);
    for (const piece of ['{"b"', ':2}']) pieces.add(Buffer.from(piece));
    for (const each of [content, exchanged({ response: pieces }, '', '{"b":2}')])
      expect(prepare(each).exchange).toMatchObject({ params: unchanged, request: unchanged, response: unchanged });
  });

  it('holds what was sent and received, masked and cut', () => {
    const params = { a: 2, password: 'open sesame' };
    const body = Buffer.from(JSON.stringify({ note: `sk-${'a'.repeat(24)}` }));
    const { exchange } = prepare(exchanged({ params, body, status: 401 }, '{"denied":true}', '{"error":{}}'));
    expect(exchange).toMatchObject({
      params: { body: { a: 2, password: '***' }, omitted: null },
      request: { body: { note: 'sk-***' }, omitted: null },
      response: { status: 401, body: { denied: true }, omitted: null },
    });
    const long = { long: 'z'.repeat(2_000) };
    const cut = prepare(
      exchanged({ params: long, body: Buffer.from(JSON.stringify(long)) }, 'y'.repeat(2_000), 'other'),
    ).exchange;
    const text = JSON.stringify(long).slice(0, 1_000);
    expect(cut).toMatchObject({ params: { body: text, omitted: 'cut' }, request: { body: text, omitted: 'cut' } });
    expect(cut?.response).toMatchObject({ body: 'y'.repeat(1_000), omitted: 'cut' });
  });

  it('masks every header and query parameter that may hold a credential of the provider', () => {
    const headers = [
      'x-goog-thing',
      'qwertz',
      'Content-Type',
      'application/json',
      'x-own',
      'of the client',
      'x-other',
      'of the gateway',
    ];
    const url = 'https://provider.example/v1/m:generate?alt=sse&key=qwertz&api-version=3';
    const content = {
      ...exchanged({ headers, url }, '{}'),
      requestHeaders: ['X-Own', 'of the client', 'x-other', 'of the client'],
    };
    expect(prepare(content).exchange?.request).toMatchObject({
      url: 'https://provider.example/v1/m:generate?alt=sse&key=***&api-version=3',
      headers: { 'x-goog-thing': '***', 'content-type': 'application/json', 'x-own': 'of the client', 'x-other': '***' },
    });
  });

  it('has no response before one has arrived, and names bodies that were not held', () => {
    expect(prepare(exchanged({ status: 0 }, '')).exchange?.response).toBe(null);
    expect(prepare(exchanged({ body: 'not_held' }, '')).exchange?.request).toMatchObject({ body: null, omitted: 'not_held' });
  });

  it('holds no vectors', () => {
    const given = '{"embeddings":[[0.1,0.2]],"usage":{"tokens":[]}}';
    const content = { ...exchanged({}, given, '{}'), operation: 'embed' };
    expect(prepare(content).exchange?.response?.body).toEqual({ embeddings: [null], usage: { tokens: [] } });
  });
});

describe('the queue of contents', () => {
  function start(reply: () => Promise<number>, queueBytesMax = 1_000_000) {
    const time = newFakeTime();
    const sent: RecordContent[][] = [];
    const log = newMemoryLog();
    const fetch: InternalFetch = async (_method, _path, body) => {
      const status = await reply();
      if (status === 200) sent.push(JSON.parse(Buffer.from(body as Uint8Array).toString('utf8')));
      return { status, body: new Uint8Array(0) };
    };
    const queue = new ContentQueue({
      fetch,
      clock: time.clock,
      timers: time.timers,
      random: () => 1,
      log,
      bodyBytesMax: 1_000,
      queueBytesMax,
      prepare,
    });
    return { time, sent, log, queue };
  }

  it('sends what was added together, and keeps it while the control plane is away', async () => {
    let status = 503;
    const { queue, sent, log } = start(async () => status);
    queue.add(captured('{"n":1}'));
    queue.add(captured('{"n":2}'));
    await queue.close(1);
    expect(sent).toEqual([]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    status = 200;
    const second = start(async () => status);
    second.queue.add(captured('{"n":1}'));
    second.queue.add(captured('{"n":2}'));
    await second.queue.close(10_000);
    expect(second.sent.map((batch) => batch.map((one) => one.response.body))).toEqual([[{ n: 1 }, { n: 2 }]]);
    expect(second.queue.counts).toEqual({ stored: 2, dropped: 0 });
    expect(second.queue.bytes).toBe(0);
  });

  it('drops and counts contents when it is full, with one warning', async () => {
    const { queue, log } = start(async () => 503, 3 * 2_100);
    for (let n = 0; n < 10; n++) queue.add(captured('{}'));
    expect(queue.counts).toEqual({ stored: 0, dropped: 7 });
    expect(log.lines.filter(({ message }) => message.includes('LOG_BODIES_QUEUE'))).toHaveLength(1);
  });

  it('counts the bytes of a translated call, and those of an unchanged one once', async () => {
    const { queue } = start(async () => 503);
    const bytesOf = (content: CapturedContent) => {
      const before = queue.bytes;
      queue.add(content);
      return queue.bytes - before;
    };
    const plain = bytesOf(captured('y'.repeat(500)));
    const translatedTo = (chunk: Uint8Array, body: Uint8Array, params: JsonObject | null) => {
      const content = captured('y'.repeat(500));
      const response = new CapturedBytes(1_000);
      response.add(chunk);
      const call = { url: 'https://provider.example', method: 'POST', headers: json, status: 200, response };
      content.reply.exchange = { ...call, body, params };
      return content;
    };
    const same = translatedTo(Buffer.alloc(0), Buffer.alloc(0), null);
    const shared = new CapturedBytes(1_000);
    shared.add(same.reply.chunks[0] as Uint8Array);
    same.reply.exchange = { ...(same.reply.exchange as CapturedExchange), body: same.requestBody, response: shared };
    const unchanged = bytesOf(same);
    const translated = bytesOf(translatedTo(Buffer.alloc(300), Buffer.alloc(200), {}));
    expect(translated - unchanged).toBe(300 + 200 + 200);
    expect(unchanged - plain).toBeLessThanOrEqual(2_048);
  });

  it('drops contents that the control plane rejects instead of sending them forever', async () => {
    const { queue } = start(async () => 400);
    queue.add(captured('{}'));
    await queue.close(10_000);
    expect(queue.counts).toEqual({ stored: 0, dropped: 1 });
  });
});
