import { describe, expect, it } from 'vitest';
import type { StreamEvent, StreamReader } from '../../../../core/contract/provider/stream-event.ts';
import { EventStream } from '../../../../core/pipeline/attempt/event-stream.ts';
import { RepeatedEvents } from '../../../../core/pipeline/attempt/repeated-events.ts';

const unused = ['content', 'text', 'sequence_number'];
const chunkOf = (content: string, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { content }, finish_reason: null }], ...rest })}\n\n`;

/** Reads all events of a stream, or only those that differ from the previous event. */
function read(chunks: readonly Uint8Array[], members?: readonly string[]) {
  const events: StreamEvent[] = [];
  const reader: StreamReader = {
    ...(members ? { unused: members } : {}),
    push: (event) => void events.push(event),
    usage: () => null,
    complete: () => true,
  };
  const stream = new EventStream(reader, null);
  for (const chunk of chunks) expect(stream.push(chunk)).toBe('');
  expect(stream.end()).toBe('');
  return { events, count: stream.count };
}

/** Without the values of unused members, and equal neighbours once. */
function told(events: readonly StreamEvent[]): string[] {
  const texts = events.map((event) =>
    JSON.stringify(event, (name, value) => (unused.includes(name) && ['string', 'number'].includes(typeof value) ? null : value)),
  );
  return texts.filter((text, at) => text !== texts[at - 1]);
}

describe('repeated events', () => {
  it('in a chat stream are counted and not parsed', () => {
    const texts = ['Hello', ' wörld 🙂', '"quoted\\"', '', 'back\\', 'line\nbreak', '{"usage":1}', '\ud83d'];
    const usage = chunkOf('', { usage: { prompt_tokens: 5 } });
    const stream = [...texts.map((text) => chunkOf(text)), usage, 'data: [DONE]\n\n'];
    const { events, count } = read([Buffer.from(stream.join(''))], unused);
    expect(count).toBe(texts.length + 2);
    const perChunk = read(
      stream.map((text) => Buffer.from(text)),
      unused,
    );
    expect([perChunk.count, perChunk.events.length]).toEqual([count, 3]);
    expect(told(perChunk.events)).toEqual(told(events));
  });

  it('are not parsed where many events share a chunk, wherever chunks are cut', () => {
    const bytes = Buffer.from([...Array(50)].map((_, i) => chunkOf(`wörd ${i}`)).join(''));
    for (const length of [10_000, 300, 150, 7, 1]) {
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length; from += length) chunks.push(bytes.subarray(from, from + length));
      const { events, count } = read(chunks, unused);
      expect([length, count, events.length]).toEqual([length, 50, 1]);
    }
  });

  it('are compared as bytes if a member that is read has other characters than ASCII', () => {
    const decoded = chunkOf('a', { model: 'Ã©' });
    const bytes = chunkOf('a', { model: 'é' });
    const repeats = new RepeatedEvents(unused);
    repeats.learn(bytes);
    expect([repeats.matches(decoded), repeats.matches(bytes)]).toEqual([false, false]);
    expect(repeats.skip(Buffer.from(bytes), () => {})).toBe(Buffer.byteLength(bytes));
  });

  const special = [
    chunkOf('a', { usage: { prompt_tokens: 5 } }),
    chunkOf('a', { sequence_number: 9 }),
    chunkOf('a', { sequence_number: 10 }),
    chunkOf('a', { text: { format: 1 } }),
    chunkOf('a').replace('"index":0', '"index":1'),
    chunkOf('a').replaceAll(':', ': ').replace('data:  ', 'data: '),
    chunkOf('a').replaceAll('\n', '\r\n'),
    chunkOf('\u00e9\u4e2d\ud83d\ude42'),
    'data: {"content":"a","content":"b"}\n\n',
    'data: {"content":"a","content":7}\n\n',
    'data: {"content":-1}\n\n',
    'event: x\ndata: {"content":"a"}\n\n',
    'event: y\ndata: {"content":"a"}\n\n',
    'data: {"content":"a\n\n',
    'data: {"content":\ndata: "a"}\n\n',
    ': comment\n\n',
    'data: [DONE]\n\n',
    'data: {"error":{"message":"a","text":"b"}}\n\n',
  ];

  it('have the same usage and end as parsed events, in random orders and cuts', () => {
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 300; round++) {
      const parts: string[] = [];
      for (let i = 0; i < 12; i++) {
        const event = random(3) === 0 ? chunkOf(String(random(1e9))) : (special[random(special.length)] as string);
        for (let times = 1 + random(3); times > 0; times--) parts.push(event);
      }
      const bytes = Buffer.from(parts.join(''));
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const length = random(2) === 0 ? 1 + random(40) : 1 + random(400);
        chunks.push(bytes.subarray(from, from + length));
        from += length;
      }
      const every = read(chunks);
      const some = read(chunks, unused);
      expect(some.count).toBe(every.count);
      expect(told(some.events)).toEqual(told(every.events));
    }
  });

  it.each(['\\q', '\t', 'a\rb'])(
    'are not taken from an event with a damaged text, which the reader could not read: %j',
    (damaged) => {
      const usage = { usage: { prompt_tokens: 5 } };
      const stream = [chunkOf('?', usage).replace('?', () => damaged), chunkOf('b', usage), chunkOf('c', usage)];
      for (const chunks of [stream, [stream.join('')]]) {
        const { events, count } = read(
          chunks.map((text) => Buffer.from(text)),
          unused,
        );
        expect([count, events.map(({ data }) => typeof data)]).toEqual([3, ['string', 'object']]);
      }
    },
  );

  it('end before the next line of any kind, so that each event of the client is counted', () => {
    const chunks = [chunkOf('a'), chunkOf('?').replace('?', '\r\rdata: [DONE]\r\r')].map((text) => Buffer.from(text));
    const { events, count } = read(chunks, unused);
    expect([count, events.map(({ data }) => data)]).toEqual([3, read(chunks).events.map(({ data }) => data)]);
  });

  it('are not taken from a frame behind the first byte of a character', () => {
    const chunks = [
      Buffer.from(`${chunkOf('a')}\u00e9`).subarray(0, -1),
      chunkOf('a'),
      chunkOf('', { usage: { prompt_tokens: 5 } }),
    ];
    const bytes = chunks.map((chunk) => Buffer.from(chunk));
    expect(read(bytes, unused)).toEqual(read(bytes));
    expect(read(bytes).events).toHaveLength(2);
  });

  it('are not taken from long events, which would take memory until the next one', () => {
    const repeats = new RepeatedEvents(unused);
    const found = [10_000, 100_000].map((length) => {
      const frame = chunkOf('a'.repeat(length));
      repeats.learn(frame);
      return repeats.matches(frame);
    });
    expect(found).toEqual([true, false]);
  });

  it('are no longer searched in a stream without any', () => {
    const repeats = new RepeatedEvents(unused);
    for (let i = 0; i < 9; i++) repeats.learn(chunkOf('a', { created: i }));
    expect(repeats.skip(Buffer.from(chunkOf('a', { created: 8 })), () => {})).toBe(0);
  });
});
