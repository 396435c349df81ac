import { expect, it } from 'vitest';
import type { StreamReader, StreamTranslator } from '../../../../core/contract/provider/stream-event.ts';
import { eventText } from '../../../../core/contract/values/text/event-text.ts';
import { EventStream } from '../../../../core/pipeline/attempt/event-stream.ts';

const reader: StreamReader = { push: () => {}, usage: () => null, complete: () => true };
const translator: StreamTranslator = { push: (event) => [event], end: () => [] };

it.each([
  ['an event keeps its text', 'id: 1\ndata: {}\n\n', 'id: 1\ndata: {}\n\n'],
  ['a comment passes', ': OPENROUTER PROCESSING\n\n', ': OPENROUTER PROCESSING\n\n'],
  ['a reconnection time is removed', 'retry: 500\n\n', ''],
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
