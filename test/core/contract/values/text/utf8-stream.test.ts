import { expect, it } from 'vitest';
import { Utf8Stream } from '../../../../../core/contract/values/text/utf8-stream.ts';

const mark = '\ufeff';
const texts: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['ASCII', Buffer.from('data: a\n\n')],
  ['characters of two, three and four bytes', Buffer.from('aé你😀b你')],
  ['a byte order mark at the beginning', Buffer.from(`${mark}ab`)],
  ['two byte order marks at the beginning', Buffer.from(`${mark}${mark}é`)],
  ['a byte order mark after ASCII', Buffer.from(`ab${mark}c${mark}`)],
  ['an incomplete character at the end', Buffer.from('ab你').subarray(0, 4)],
  ['invalid bytes between ASCII', Uint8Array.from([0x61, 0xff, 0x62, 0xe4, 0xbd, 0x63, 0x80, 0x64])],
];

it.each(texts)('utf-8 stream: equals TextDecoder for %s, split at any two bytes', (_name, bytes) => {
  for (const ignoreBOM of [false, true]) {
    const expected = new TextDecoder('utf-8', { ignoreBOM }).decode(bytes);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const stream = new Utf8Stream({ ignoreBOM });
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(chunks.map((chunk) => stream.push(chunk)).join('') + stream.end()).toBe(expected);
      }
    }
  }
});

it('utf-8 stream: returns each chunk of ASCII at once, also after other characters', () => {
  const stream = new Utf8Stream();
  expect(stream.push(Buffer.from('a'))).toBe('a');
  expect(stream.push(Buffer.from('é').subarray(0, 1))).toBe('');
  expect(stream.push(Buffer.from('é').subarray(1))).toBe('é');
  expect(stream.push(Buffer.from('b'))).toBe('b');
  expect(stream.push(Buffer.from('c'))).toBe('c');
  expect(stream.end()).toBe('');
});
