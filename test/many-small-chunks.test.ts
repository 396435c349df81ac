import { expect, it } from 'vitest';
import { CapturedBytes } from '../core/contract/plugin/record/content-capture.ts';
import type { OperationCall, StepRequest, StepServices } from '../core/contract/provider/provider.ts';
import type { UpstreamCall, UpstreamHandler, UpstreamSender } from '../core/contract/provider/upstream.ts';
import { BodyIntake } from '../core/contract/values/bodies/body-intake.ts';
import { ChunkList } from '../core/contract/values/bodies/chunk-list.ts';
import { EventFrames } from '../core/contract/values/text/event-frames.ts';
import { UwsRequestBody } from '../core/http/request-body.ts';
import { WriteQueue } from '../core/http/write-queue.ts';
import { exchangeStream } from '../core/pipeline/attempt/exchange-stream.ts';
import { HeldReply } from '../core/pipeline/attempt/held-reply.ts';
import { whole } from '../core/pipeline/attempt/step-services.ts';
import { WholeEvents } from '../core/pipeline/attempt/whole-events.ts';
import { readWholeReply } from '../core/pipeline/attempt/whole-reply.ts';
import { putObject } from '../core/providers/bedrock/stored/storage.ts';

/**
 * Clients and providers choose the size of the chunks in which they send a body. A buffer takes about 200 bytes beside its content, and the first
 * element of a long array is removed in linear time. Bodies in chunks of one byte therefore take the memory of their length, and linear time.
 */
const n = 300_000;
const timeout = 20_000;
/** Chunks that may be stored as they arrive. */
const separateMax = 64;

/** Passes one byte after the other, each as a view of a buffer, and then overwrites the buffer: what was not copied changes. */
function sendBytes(count: number, push: (chunk: Uint8Array) => unknown): void {
  const sent = Buffer.alloc(count, 'a');
  for (let at = 0; at < count; at++) push(sent.subarray(at, at + 1));
  sent.fill('b');
}

/** Expects all bytes, of which only the first ones were not copied. */
function expectJoined(bytes: Uint8Array, count: number): void {
  expect(bytes).toHaveLength(count);
  expect(Buffer.from(bytes).lastIndexOf('b')).toBeLessThan(separateMax);
}

/** A sender whose response is sent by `send`. */
function sender(send: (handler: UpstreamHandler) => void): UpstreamSender {
  return {
    send(_: UpstreamCall, handler: UpstreamHandler) {
      queueMicrotask(() => send(handler));
      return { resume: () => {}, abort: () => {} };
    },
  } as UpstreamSender;
}

it('lists of chunks return the bytes of small and large chunks in their order', () => {
  const list = new ChunkList();
  const expected: string[] = [];
  const add = (text: string): void => {
    list.push(Buffer.from(text));
    expected.push(text);
  };
  for (let i = 0; i < 2_000; i++) add(i % 7 === 0 ? `${i}`.repeat(40) : `${i} `);
  const all = expected.join('');
  expect(list.bytes).toBe(all.length);
  expect(String(list.concat())).toBe(all);
  const first: string[] = [];
  for (let i = 0; i < 500; i++) first.push(String(list.shift()));
  for (let i = 0; i < 50; i++) add('x');
  const rest = list.take().map(String);
  expect(first.concat(rest).join('')).toBe(expected.join(''));
  expect([list.bytes, list.length, list.shift(), list.take().length]).toEqual([0, 0, undefined, 0]);
});

it('lists of chunks return the same bytes for one chunk, and a copy of a borrowed one', () => {
  const chunk = Buffer.from('a');
  const list = new ChunkList();
  list.push(chunk);
  expect(list.concat()).toBe(chunk);
  expect(list.shift()).toBe(chunk);
  list.push(chunk, true);
  chunk.fill('b');
  expect(String(list.shift())).toBe('a');
});

it('replies that are held store small chunks together', () => {
  const held = new HeldReply();
  sendBytes(n, (chunk) => held.push(200, chunk, 'acme'));
  expectJoined(held.body, n);
});

it('replies that are read whole store small chunks together', async () => {
  const send = (handler: UpstreamHandler): void => {
    handler.onHead(200, []);
    sendBytes(n, (chunk) => handler.onData(chunk));
    handler.onEnd();
  };
  const { body } = await readWholeReply(sender(send), {} as UpstreamCall, n, () => expect.unreachable());
  expectJoined(body, n);
  const stream = exchangeStream(sender(send), {} as UpstreamCall);
  await stream.head;
  expectJoined((await stream.whole(n)) as Uint8Array, n);
});

it('chunks that wait for their reader are stored together and read in linear time', { timeout }, async () => {
  const stream = exchangeStream(
    sender((handler) => {
      handler.onHead(200, []);
      sendBytes(n, (chunk) => handler.onData(chunk));
      handler.onEnd();
    }),
    {} as UpstreamCall,
  );
  await stream.head;
  expectJoined(await whole(stream.body), n);
});

async function* singleBytes(): AsyncGenerator<Uint8Array> {
  const sent = Buffer.alloc(n, 'a');
  for (let at = 0; at < n; at++) yield sent.subarray(at, at + 1);
  sent.fill('b');
}

it('steps of an operation store small chunks together', async () => {
  expectJoined(await whole(singleBytes()), n);
});

it('uploads to a storage store small chunks together', async () => {
  const call = { settings: { aws_region: 'us-east-1' } } as unknown as OperationCall;
  const stored: unknown[] = [];
  const send = async ({ body }: StepRequest) => {
    stored.push(body);
    return { status: 200, headers: [], body: singleBytes(), cancel: () => {} };
  };
  const location = { bucket: 'files', key: 'a' };
  expect(await putObject(call, { send } as unknown as StepServices, location, singleBytes())).toBe(n);
  expectJoined(stored[0] as Uint8Array, n);
});

it('logs store small chunks together', () => {
  const captured = new CapturedBytes(n - 1);
  sendBytes(n, (chunk) => captured.add(chunk));
  expect(captured).toMatchObject({ isCut: true, bytes: n - 1 });
  expectJoined(Buffer.concat(captured.chunks), n - 1);
});

it('long events store small chunks together', () => {
  const frames = new EventFrames();
  const begun = 100_000;
  frames.push(Buffer.alloc(begun, 'a'));
  sendBytes(n, (chunk) => frames.push(chunk));
  const [frame = ''] = frames.push(Buffer.from('\n\n'));
  expect(frame).toHaveLength(begun + n + 2);
  expect(frame.lastIndexOf('b')).toBeLessThan(begun + separateMax);
});

it('unfinished events that are not translated store small chunks together', () => {
  const events = new WholeEvents();
  sendBytes(n, (chunk) => events.push(chunk, false));
  expectJoined(events.rest(), n);
  expect(events.rest()).toHaveLength(0);
});

it('request bodies that wait for their reader are stored together and read in linear time', { timeout }, async () => {
  const body = new UwsRequestBody(-1, { pauseBody: () => {}, resumeBody: () => {} }, new BodyIntake());
  for (let at = 0; at < n; at++) body.receive(Uint8Array.of(97).buffer, at + 1 === n);
  const chunks: Uint8Array[] = [];
  await new Promise<void>((onEnd, onError) => {
    body.pipe({ onData: (chunk) => chunks.push(chunk) > 0, onEnd, onError }, n);
  });
  expect(chunks.length).toBeLessThan(200);
  expect(String(Buffer.concat(chunks))).toBe('a'.repeat(n));
});

it('small chunks that wait to be written are removed in linear time', { timeout }, () => {
  const queue = new WriteQueue();
  const chunk = Buffer.from('a');
  for (let i = 0; i < n; i++) queue.push(chunk);
  while (queue.bytes > 0) {
    const piece = queue.next(14_000);
    expect(piece.length).toBeGreaterThan(0);
    queue.take(piece.length);
  }
});
