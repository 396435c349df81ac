import { expect, it } from 'vitest';
import type { StreamReader, StreamTranslator } from '../../../../core/contract/provider/stream-event.ts';
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
