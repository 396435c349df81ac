import { expect, it } from 'vitest';
import { EventFrames, eventLengthMax } from '../../../../core/pipeline/attempt/event-frames.ts';

const text = 'data: a\n\nevent: b\r\ndata: c\r\n\r\n: comment\n\ndata: d\ndata: e\n\n';
const frames = ['data: a\n\n', 'event: b\r\ndata: c\r\n\r\n', ': comment\n\n', 'data: d\ndata: e\n\n'];

it('event frames: are the same for a cut at any two characters', () => {
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      const cutter = new EventFrames(() => {});
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect(parts.flatMap((part) => cutter.push(part))).toEqual(frames);
      expect(cutter.rest()).toBe('');
    }
  }
});

it('event frames: return the unfinished frame at the end of the stream', () => {
  const cutter = new EventFrames(() => {});
  expect(cutter.push('data: a\n\ndata: ')).toEqual(['data: a\n\n']);
  cutter.push('b\n');
  expect(cutter.rest()).toBe('data: b\n');
  expect(cutter.rest()).toBe('');
});

it('event frames: an event without end is rejected, and its growth is reported once per character', () => {
  let grown = 0;
  const cutter = new EventFrames((length) => (grown += length));
  const chunk = 'x'.repeat(1024 * 1024);
  const feed = () => {
    for (let i = 0; i <= eventLengthMax / chunk.length; i++) cutter.push(chunk);
  };
  expect(feed).toThrow('more than 33554432 characters');
  expect(grown).toBe(eventLengthMax - 64 * 1024);
});

it('event frames: ordinary events are not reported', () => {
  let grown = 0;
  const cutter = new EventFrames((length) => (grown += length));
  for (let i = 0; i < 100; i++) cutter.push(`data: ${'x'.repeat(2000)}\n${i % 2 ? '\n' : ''}`);
  expect(grown).toBe(0);
});
