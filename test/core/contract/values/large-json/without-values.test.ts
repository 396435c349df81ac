import { describe, expect, it } from 'vitest';
import { withoutValues } from '../../../../../core/contract/values/large-json/without-values.ts';
import { runAtOnce } from '../../../pipeline/request/run-at-once.ts';

const numbers = Array.from({ length: 200 }, (_, i) => (i - 100) / 7e5);
const text = 'A'.repeat(2000);
const steps = (json: string) => [...withoutValues(Buffer.from(json), 'embedding')].length;
const rest = (json: string, name = 'embedding') => {
  const found = runAtOnce(withoutValues(Buffer.from(json), name));
  return found === null ? null : Buffer.from(found).toString();
};

describe('JSON without the values of a member', () => {
  it.each<[name: string, given: unknown, expected: unknown]>([
    ['a list of numbers', { data: [{ embedding: numbers, index: 0 }] }, { data: [{ embedding: [0], index: 0 }] }],
    ['a text', { data: [{ index: 0, embedding: text }], usage: 1 }, { data: [{ index: 0, embedding: '' }], usage: 1 }],
    ['a text with escapes', { embedding: `${text}"\\\n` }, { embedding: '' }],
    ['values between short ones', { a: { embedding: [1] }, embedding: numbers }, { a: { embedding: [1] }, embedding: [0] }],
    ['a name that is a value elsewhere', { object: 'embedding', embedding: numbers }, { object: 'embedding', embedding: [0] }],
    [
      'a name inside a text',
      { x: `"embedding":[${numbers}]`, embedding: numbers },
      { x: `"embedding":[${numbers}]`, embedding: [0] },
    ],
  ])('leaves out %s', (_name, given, expected) => {
    for (const space of [0, 2, '\t']) expect(JSON.parse(rest(JSON.stringify(given, null, space)) ?? '')).toEqual(expected);
  });

  it.each<[name: string, json: string]>([
    ['no such member', JSON.stringify({ other: numbers })],
    ['short values', JSON.stringify({ embedding: [1, 2, 3] })],
    ['a text without its end', `{"embedding":"${text}`],
    ['a list without its end', `{"embedding":[${numbers}`],
    ['lists', JSON.stringify({ embedding: [numbers, numbers] })],
    ['objects', JSON.stringify({ embedding: { float: numbers } })],
    ['texts', JSON.stringify({ embedding: numbers.map(String) })],
    ['a longer name', `{"an\\"embedding":[${numbers}]}`],
    ...['NaN', 'null', '-Infinity', 'true', 'false'].map((word): [string, string] => [
      word,
      `{"embedding":[${numbers},${word}]}`,
    ]),
  ])('is null for %s', (_name, json) => {
    expect(rest(json)).toBeNull();
  });

  it.each(['"embedding":[1]', '"embedding":[NaN]', '"embedding":""', '"embedding":{}', '"embedding"'])(
    'yields between values that stay: %s',
    (part) => {
      expect(steps(`[${part},`.repeat(200_000))).toBeGreaterThan(40);
    },
  );

  it('takes time in proportion to its length, and yields in between', () => {
    const item = JSON.stringify({ embedding: numbers });
    const count = Math.ceil((4 * 1024 * 1024) / item.length);
    expect(steps(`[${`${item},`.repeat(count)}0]`)).toBeGreaterThan(2);
    // Each bracket and each text is searched for once: otherwise these would take minutes.
    for (const part of ['"embedding":[', '"embedding":["', '"embedding":', '"embedding":[1,', '\\"embedding":[']) {
      for (const end of ['', ']', '"]']) expect(rest(part.repeat(500_000) + end)).toBeNull();
    }
  });
});
