import { expect, it } from 'vitest';
import { StringEnds } from '../../../../../core/contract/values/large-json/string-ends.ts';

/** Returns the result of `after`, found byte by byte. */
function expected(bytes: Buffer, start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    if (bytes[at] === 0x22) return at;
    at += bytes[at] === 0x5c ? 2 : 1;
  }
  return -at;
}

it.each([0, 1, 2, 3])('StringEnds finds each end in memory that begins %i bytes after a word', (lead) => {
  let seed = 11 + lead;
  const random = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const memory = Buffer.from(new ArrayBuffer(4096));
  for (let round = 0; round < 3000; round++) {
    const length = random(round % 10 === 0 ? 2000 : 40);
    const bytes = memory.subarray(lead, lead + length);
    const rare = 2 + random(300);
    for (let i = 0; i < length; i++) bytes[i] = [0x22, 0x5c][random(rare)] ?? 0x21 + random(200);
    const [start, limit] = [random(length + 1), length - random(Math.min(5, length + 1))];
    const found = new StringEnds(bytes).after(start, limit);
    expect([round, length, start, limit, found]).toEqual([round, length, start, limit, expected(bytes, start, limit)]);
  }
});

it.each([0, 1, 2, 3])('StringEnds finds each control character in memory that begins %i bytes after a word', (lead) => {
  const bytes = Buffer.from(new ArrayBuffer(64)).subarray(lead, lead + 40);
  for (let byte = 0; byte < 256; byte++) {
    for (let at = 0; at < 13; at++) {
      bytes.fill(0x20 + ((byte * 7 + at) % 224));
      bytes[at] = byte;
      const ends = new StringEnds(bytes);
      const found = [
        ends.hasControls(0, 13),
        ends.hasControls(at, at + 1),
        ends.hasControls(0, at),
        ends.hasControls(at + 1, 13),
      ];
      expect([byte, at, ...found]).toEqual([byte, at, byte < 0x20, byte < 0x20, false, false]);
    }
  }
});
