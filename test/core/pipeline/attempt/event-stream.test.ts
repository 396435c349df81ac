import { expect, it, vi } from 'vitest';
import type { StreamReader, StreamTranslator } from '../../../../core/contract/provider/stream-event.ts';
import { eventText } from '../../../../core/contract/values/text/event-text.ts';
import { EventStream } from '../../../../core/pipeline/attempt/event-stream.ts';

const reader: StreamReader = { push: () => {}, usage: () => null, complete: () => true };
const translator: StreamTranslator = { push: (event) => [event], end: () => [] };

it.each([
  ['an event keeps its text', 'id: 1\ndata: {}\n\n', 'id: 1\ndata: {}\n\n'],
  ['a comment passes', ': OPENROUTER PROCESSING\n\n', ': OPENROUTER PROCESSING\n\n'],
  ['a reconnection time is removed', 'retry: 500\n\n', ''],
  ['many comments in one frame become one', `${': hi\n'.repeat(20_000)}\n`, ':\n\n'],
  ['a name without data is removed', 'event: ping\r\n\r\n', ''],
  ['a comment passes without the other lines', ': hi\r\nretry: 500\r\n: there\r\n\r\n', ': hi\n: there\n\n'],
])('event stream: in a translated stream %s', (_, given, expected) => {
  const stream = new EventStream(reader, translator);
  expect(stream.push(Buffer.from(given)) + stream.end()).toBe(expected);
});

it.each([
  ['a long id', { id: 'i'.repeat(1_000_000) }, 500, 'more than 20 times as long'],
  ['a long id in one event', { id: 'i'.repeat(1_000_000), count: 10_000 }, 1, 'more than 20 times as long'],
  ['a usual id', { id: 'i'.repeat(100) }, 100_000, null],
])('event stream: a translator that repeats %s in each event', (_, head, count, message) => {
  let first: Record<string, unknown> = {};
  const repeating: StreamTranslator = {
    push({ event, data }) {
      if (typeof data === 'object' && 'id' in data) first = data;
      return Array.from({ length: Number(first.count ?? 1) }, () => ({ event, data: { id: first.id, delta: 'a' } }));
    },
    end: () => [],
  };
  const stream = new EventStream(reader, repeating);
  const send = () => {
    stream.push(Buffer.from(eventText(head, null)));
    for (let i = 0; i < count; i++) stream.push(Buffer.from('data: {"delta":"a"}\n\n'));
    return null;
  };
  if (message === null) expect(send()).toBeNull();
  else expect(send).toThrow(message);
});

it.each(['\n', '\r', '\r\n'])('event stream: reads the lines of events among others that end with %j', (end) => {
  const events: unknown[] = [];
  const reading: StreamReader = { ...reader, push: (event) => events.push(event) };
  const lines = ['retry: 5', 'event: a', 'eventual: b', 'database', 'data', ': data: 0', '\ufeffid: 1', 'data: 1', 'data:2', 'x'];
  const stream = new EventStream(reading, null);
  stream.push(Buffer.from([...lines, '', 'event: b', 'id: 1', 'data: 3', '', ''].join(end)));
  stream.end();
  expect(events).toEqual([
    { event: 'a', data: '\n1\n2' },
    { event: 'b', data: '3' },
  ]);
});

it.each(['\n', '\r', '\r\n'])('event stream: a frame of comments that end with %j is neither split nor rewritten', (end) => {
  // Splitting takes 16 times its memory, and replacing each CR of 32 MiB nine seconds.
  const [split, replace] = [vi.spyOn(String.prototype, 'split'), vi.spyOn(String.prototype, 'replace')];
  const stream = new EventStream(reader, translator);
  const comments = `: hi${end}`.repeat(20_000);
  const sent = stream.push(Buffer.from(`${comments}data: {}${end}${end}${comments}${end}:`));
  const long = [...split.mock.contexts, ...replace.mock.contexts].filter((text) => String(text).length > 10_000).length;
  split.mockRestore();
  replace.mockRestore();
  expect([long, sent.endsWith(`${end}data: {}${end}${end}:\n\n`)]).toEqual([0, true]);
});

it('event stream: counts frames without an event, because they take time too', () => {
  const stream = new EventStream(reader, null);
  stream.push(Buffer.from(`${':\n\n'.repeat(10)}data: {}\n\nretry: 5\n\n`));
  expect([stream.count, stream.emptyCount]).toEqual([1, 11]);
});

it.each(['\n', '\r', '\r\n'])('event stream: rejects an event with too many lines of data that end with %j', (end) => {
  const lines = (data: number, comments: number): string => `data${end}`.repeat(data) + `:${end}`.repeat(comments);
  const stream = new EventStream(reader, null);
  stream.push(Buffer.from(`${lines(99_000, 99_000)}${end}data: 1${end}${end}:${end}`));
  expect(stream.count).toBe(2);
  expect(() => stream.push(Buffer.from(`${lines(100_001, 0)}${end}data: 1${end}${end}`))).toThrow('more than 100000 lines');
});

it.each<[string, StreamTranslator | null, number]>([
  ['is translated counts beyond its first 32 MiB, because a translator may store it', translator, 2_000_000],
  ['is only read does not count', null, 0],
])('event stream: a stream that %s', (_, translating, expected) => {
  let held = 0;
  const onGrow = (length: number): void => {
    held += length;
  };
  const stream = new EventStream(reader, translating, null, onGrow);
  const event = Buffer.from(`data: ${'a'.repeat(999_992)}\n\n`);
  for (let i = 0; i < 35; i++) stream.push(event);
  expect(held).toBe(expected);
});

it('event stream: counts events that the reader does not read, and parses those whose type is another', () => {
  const events: unknown[] = [];
  const reading: StreamReader = { ...reader, unused: [], unread: new Set(['created']), push: ({ data }) => events.push(data) };
  const stream = new EventStream(reading, null);
  stream.push(Buffer.from('event: created\ndata: {"type":"created",no JSON}\n\nevent: created\ndata: {"type":"error"}\n\n'));
  expect([stream.count, events]).toEqual([2, [{ type: 'error' }]]);
});
