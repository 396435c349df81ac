import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { UpstreamHandler } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { createOpenStreams } from '../../../../core/json-rpc/open-streams.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';
import { type QuestionStream, questionStreams } from '../../../../core/mcp/sessions/question-stream.ts';
import { failWith, replyWith, type Script } from '../../../../core/test-kit/provider-scripts.ts';
import { newScriptedTransport } from '../../../../core/test-kit/scripted-transport.ts';

const server = { document: { workspaceId: 'w' }, origin: 'http://s', path: '/', headers: {} } as unknown as ServerSettings;
const question = 'data: {"jsonrpc":"2.0","id":"q","method":"roots/list"}\n\n';
const secondMs = 1_000;
const minuteMs = 60_000;

let scripted: ReturnType<typeof newScriptedTransport>;
let streams: ReturnType<typeof createOpenStreams>;
let isServed: () => Promise<boolean>;
/** The streams that the server opened. */
let opened: UpstreamHandler[];
let newStream: () => QuestionStream;

/** Opens streams, and accepts replies to questions. */
const serve: Script = (call, handler) => {
  if (call.method === 'POST') return void replyWith(202, '')(call, handler);
  opened.push(handler);
  handler.onHead(200, ['content-type', 'text/event-stream']);
};
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const requests = (method: string) => scripted.calls.filter((call) => call.method === method).length;
const cancelled = () => scripted.aborted.filter(({ method }) => method === 'GET').length;
const send = async (...chunks: (string | Uint8Array)[]) => {
  for (const chunk of chunks) {
    opened.at(-1)?.onData(Buffer.from(chunk));
    await passes(0);
  }
};
/** Opens the stream, as a call does. */
const use = async (stream: QuestionStream) => {
  void stream.open();
  await passes(0);
};

/** Returns the number of intervals that have begun and not ended. Timers of other test files in the process are no part of it. */
let running: () => number;

beforeEach(() => {
  vi.useFakeTimers();
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  running = () => {
    const open = new Set<unknown>(begun.mock.results.map(({ value }) => value));
    for (const [timer] of ended.mock.calls) open.delete(timer);
    return open.size;
  };
  scripted = newScriptedTransport();
  scripted.script(serve);
  streams = createOpenStreams();
  isServed = async () => true;
  opened = [];
  const clock = { now: () => Date.now(), elapsed: () => Date.now() };
  const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 };
  const parts = { sender: scripted.transport, server, timeouts, streams };
  const follow = questionStreams(clock, () => isServed());
  newStream = () => follow(() => parts, { revision: '2025-11-25', sessionId: 'one', opened: {} });
});
afterEach(async () => {
  streams.close();
  // The ends of a thousand streams take more than one turn of the event loop. An interval that stays fails the test by its time limit.
  while (running() > 0) await passes(0);
  expect(running()).toBe(0);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the stream of a session of the gateway at an MCP server', () => {
  it('ends five minutes after the last call, and is opened again by the next one', async () => {
    const stream = newStream();
    await use(stream);
    await passes(4 * minuteMs);
    await use(stream);
    await passes(5 * minuteMs - secondMs);
    expect([requests('GET'), cancelled()]).toEqual([1, 0]);
    await passes(11 * secondMs);
    expect(cancelled()).toBe(1);
    await use(stream);
    expect(requests('GET')).toBe(2);
  });

  it('ends when its server was removed, but not while documents cannot be read', async () => {
    await use(newStream());
    isServed = () => Promise.reject(new Error('not reachable'));
    await passes(20 * secondMs);
    expect(cancelled()).toBe(0);
    isServed = async () => false;
    await passes(10 * secondMs);
    expect(cancelled()).toBe(1);
  });

  it('reads events of up to 1 MiB, and ends with a longer one', async () => {
    await use(newStream());
    const comment = Buffer.alloc(64 * 1024, 'x');
    await send(':', ...Array<Uint8Array>(15).fill(comment), '\n', question);
    expect([requests('POST'), cancelled()]).toEqual([1, 0]);
    await send(':', ...Array<Uint8Array>(18).fill(comment), '\n', question);
    expect([requests('POST'), cancelled()]).toEqual([1, 1]);
  });

  it('ends with 8 MiB, so that no server can occupy the process with it', async () => {
    await use(newStream());
    const comments = Buffer.from(`:${'x'.repeat(64 * 1024 - 3)}\n\n`);
    await send(...Array<Uint8Array>(127).fill(comments), question);
    expect([requests('POST'), cancelled()]).toEqual([1, 0]);
    await send(comments, question);
    expect([requests('POST'), cancelled()]).toEqual([1, 1]);
  });

  it('is one of at most 1,000 of the process', async () => {
    const all = Array.from({ length: 1_001 }, newStream);
    for (const stream of all) void stream.open();
    await passes(0);
    expect(requests('GET')).toBe(1_000);
    all[0]?.end();
    await passes(0);
    await use(all[1_000] as QuestionStream);
    expect(requests('GET')).toBe(1_001);
  });

  it('waits for a head that comes with the first question, however late, and delays calls by 300 ms once', async () => {
    scripted.script((call, handler) => (call.method === 'POST' ? serve(call, handler) : void opened.push(handler)));
    const stream = newStream();
    const waited: string[] = [];
    void stream.open()?.then(() => waited.push('first'));
    await passes(299);
    expect(waited).toEqual([]);
    await passes(1);
    void stream.open()?.then(() => waited.push('second'));
    await passes(0);
    expect([waited, scripted.calls[0]?.timeouts.firstByteMs]).toEqual([['first', 'second'], 0]);
    await passes(minuteMs);
    opened[0]?.onHead(200, ['content-type', 'text/event-stream']);
    await send(question);
    expect(requests('POST')).toBe(1);
  });

  it('ends without a head five minutes after the last call', async () => {
    scripted.script((_call, handler) => void opened.push(handler));
    const stream = newStream();
    await use(stream);
    await passes(5 * minuteMs);
    expect(cancelled()).toBe(1);
    await use(stream);
    expect(requests('GET')).toBe(2);
  });

  it.each<[string, Script]>([
    ['is refused', replyWith(405, '')],
    ['is redirected', replyWith(302, '', ['location', 'http://other'])],
    ['fails', failWith(new GatewayError('upstream_connect'))],
    ['ends at once', replyWith(200, question, ['content-type', 'text/event-stream'])],
  ])('is not opened again in the session if it %s', async (_name, script) => {
    scripted.script((call, handler) => (call.method === 'POST' ? serve : script)(call, handler));
    const stream = newStream();
    await use(stream);
    await passes(minuteMs);
    await use(stream);
    expect(requests('GET')).toBe(1);
  });

  it('is opened again by the next call if the server ends it after ten seconds', async () => {
    const stream = newStream();
    await use(stream);
    await passes(10 * secondMs);
    opened[0]?.onEnd();
    await passes(0);
    await use(stream);
    expect(requests('GET')).toBe(2);
  });

  it('passes on replies to questions only, eight at a time', async () => {
    scripted.script((call, handler) => (call.method === 'POST' ? undefined : serve(call, handler)));
    await use(newStream());
    await send('data: {"jsonrpc":"2.0","id":9,"result":{"content":[]}}\n\n', question.repeat(20));
    expect(requests('POST')).toBe(8);
    expect(scripted.calls.at(-1)?.body?.toString()).toBe(
      '{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"Method not found"}}',
    );
  });

  it('ends when the process stops', async () => {
    const stream = newStream();
    await use(stream);
    streams.close();
    await passes(0);
    expect(cancelled()).toBe(1);
    await use(stream);
    expect(requests('GET')).toBe(1);
  });
});
