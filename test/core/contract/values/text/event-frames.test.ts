import { expect, it } from 'vitest';
import { EventFrames, eventBytesMax } from '../../../../../core/contract/values/text/event-frames.ts';

const text = Buffer.from('data: a\n\nevent: b\r\ndata: c\r\n\r\n: comment\n\ndata: d\ndata: é\n\n');
const frames = ['data: a\n\n', 'event: b\r\ndata: c\r\n\r\n', ': comment\n\n', 'data: d\ndata: é\n\n'];

it('event frames: are the same for a cut at any two bytes', () => {
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      const cutter = new EventFrames();
      const parts = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
      expect(parts.flatMap((part) => cutter.push(part))).toEqual(frames);
      expect(cutter.rest()).toBe('');
    }
  }
});

it('event frames: end at every blank line, whatever its line ends', () => {
  const parts = [
    'data: a\r\r',
    'data: b\n\r\n',
    'data: c\r\n\n',
    'data: d\r\n\r',
    'data: e\rdata: f\r\n\r\n',
    'data: g\n\r',
    'data: h\n\n',
  ];
  const bytes = Buffer.from(parts.join(''));
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const cutter = new EventFrames();
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(chunks.flatMap((chunk) => cutter.push(chunk))).toEqual(parts);
    }
  }
});

it('event frames: a long event with other line ends is complete with its blank line', () => {
  const long = `data: ${'é'.repeat(100_000)}\r\r`;
  const bytes = Buffer.from(`${long}data: b\n\r\n`);
  for (let at = bytes.length - 20; at <= bytes.length; at++) {
    const cutter = new EventFrames();
    const chunks = [bytes.subarray(0, 90_000), bytes.subarray(90_000, at), bytes.subarray(at)];
    const found = chunks.flatMap((chunk) => cutter.push(chunk));
    expect(found.join('') === bytes.toString() && found.length === 2 && found[0] === long).toBe(true);
  }
});

it('event frames: a long event and the next one are the same for each cut near its end', () => {
  const long = Buffer.from(`data: ${'é'.repeat(100_000)}\r\n\r\ndata: b\n\n`);
  const at = long.length - 20;
  for (let first = at; first < long.length; first++) {
    for (let second = first; second <= long.length; second++) {
      const cutter = new EventFrames();
      const parts = [long.subarray(0, 90_000), long.subarray(90_000, first), long.subarray(first, second), long.subarray(second)];
      const found = parts.flatMap((part) => cutter.push(part));
      expect(found.join('') === long.toString() && found.length === 2).toBe(true);
      expect(cutter.rest()).toBe('');
    }
  }
});

it('event frames: return the unfinished frame at the end of the stream', () => {
  const cutter = new EventFrames();
  expect(cutter.push(Buffer.from('data: a\n\ndata: '))).toEqual(['data: a\n\n']);
  cutter.push(Buffer.from('b\n'));
  expect(cutter.rest()).toBe('data: b\n');
  expect(cutter.rest()).toBe('');
});

it('event frames: an event without end is rejected, and its growth is reported once per byte', () => {
  let grown = 0;
  const cutter = new EventFrames((length) => (grown += length));
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const feed = () => {
    for (let i = 0; i <= eventBytesMax / chunk.length; i++) cutter.push(chunk);
  };
  expect(feed).toThrow('more than 33554432 bytes');
  expect(grown).toBe(eventBytesMax - 64 * 1024);
});

it('event frames: ordinary events are not reported', () => {
  let grown = 0;
  const cutter = new EventFrames((length) => (grown += length));
  for (let i = 0; i < 100; i++) cutter.push(Buffer.from(`data: ${'x'.repeat(2000)}\n${i % 2 ? '\n' : ''}`));
  expect(grown).toBe(0);
});
