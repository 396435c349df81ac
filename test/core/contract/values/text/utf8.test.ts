import { describe, expect, it } from 'vitest';
import { textOf, unmarkedTextOf, validTextOf } from '../../../../../core/contract/values/text/utf8.ts';
import { randomFrom } from '../../../../support/samples/random-from.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const strictUnmarked = new TextDecoder('utf-8', { fatal: true });

describe('textOf and validTextOf', () => {
  it.each([
    ['nothing', ''],
    ['ASCII', 'a\u0000\u007f'],
    ['short text of one character per script', 'é你😀'],
    ['a byte order mark before ASCII', '\ufeff{}'],
    ['a byte order mark before long text', `\ufeff${'é'.repeat(1000)}`],
    ['a byte order mark inside', `a\ufeff${'b'.repeat(1000)}`],
    ['long text that fits Latin-1', 'Übung macht den Meister. '.repeat(100)],
    ['long Chinese text', '今天天气很好。'.repeat(5000)],
    ['long text outside the basic plane', '😀'.repeat(1000)],
  ])('returns the characters of %s', (_name, text) => {
    const bytes = Buffer.from(text);
    expect(textOf(bytes)).toBe(text);
    expect(validTextOf(bytes)).toBe(text);
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['a character cut at the end', [0xe4, 0xbd]],
    ['an overlong quote', [0xc0, 0xa2]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point above the last one', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that never occurs', [0xff]],
  ])('replaces %s, and does not call it valid', (_name, invalid) => {
    for (const filling of ['', 'a'.repeat(600), '你'.repeat(600)]) {
      const bytes = Buffer.concat([Buffer.from(filling), Uint8Array.from(invalid)]);
      expect(textOf(bytes)).toBe(bytes.toString('utf8'));
      expect(validTextOf(bytes)).toBeNull();
      expect(unmarkedTextOf(bytes)).toBeNull();
    }
  });

  it('unmarkedTextOf removes one mark at the beginning, and none inside', () => {
    for (const text of ['', 'é', '\ufeff', 'a\ufeff', '你'.repeat(1000)]) {
      expect(unmarkedTextOf(Buffer.from(text))).toBe(text.replace(/^\ufeff/, ''));
      expect(unmarkedTextOf(Buffer.from(`\ufeff${text}`))).toBe(text);
    }
  });

  it('reads the part of a larger buffer that a Uint8Array shows', () => {
    for (const text of ['plain', 'é你😀'.repeat(200)]) {
      const whole = Buffer.from(`你${text}你`);
      const part = new Uint8Array(whole.buffer, whole.byteOffset + 3, whole.length - 6);
      expect(textOf(part)).toBe(text);
      expect(validTextOf(part)).toBe(text);
    }
  });

  it('returns what Buffer and TextDecoder return for random bytes', () => {
    const random = randomFrom(7);
    for (let round = 0; round < 4000; round++) {
      const bytes = randomBytes(random);
      expect(textOf(bytes)).toBe(bytes.toString('utf8'));
      expect(validTextOf(bytes)).toBe(decodedBy(strict, bytes));
      expect(unmarkedTextOf(bytes)).toBe(decodedBy(strictUnmarked, bytes));
    }
  });
});

function decodedBy(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

const pieces = [
  'a',
  'lorem ipsum ',
  '{"a":',
  '"',
  '\\',
  '\n',
  'é',
  'ÿ',
  '\u0080',
  '\u07ff',
  '\u0800',
  '你',
  '\ufeff',
  '\uffff',
  '😀',
  '\u{10ffff}',
];

/** Text of random characters, below and above the lengths from which decoding changes, in two of three cases with changed bytes. */
function randomBytes(random: () => number): Buffer {
  const length = Math.floor(random() * (random() < 0.5 ? 20 : 1200));
  const known = 1 + Math.floor(random() * pieces.length);
  const bytes = Buffer.from(Array.from({ length }, () => pieces[Math.floor(random() * known)]).join(''));
  for (let change = Math.floor(random() * 3); change > 0 && bytes.length > 0; change--)
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return bytes.subarray(0, bytes.length - Math.floor(random() * 3));
}
