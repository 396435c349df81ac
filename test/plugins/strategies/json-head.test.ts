import { expect, it } from 'vitest';
import { jsonHead } from '../../../plugins/strategies/json-head.ts';

it.each([
  ['a text'],
  ['a long text '.repeat(10)],
  [null],
  [[1, 2.5, -0, 1e21, true, null, 'with "quotes" and \ud800']],
  [{ role: 'user', content: [{ type: 'text', text: 'x' }, {}, []], absent: undefined, empty: '' }],
  [JSON.parse('{"__proto__": {"a": 1}, "10": 1, "2": 2}')],
])('the head of %j is the beginning of its JSON, or of the text', (value) => {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  for (const length of [1, 2, 7, 20, 50, 1_000]) expect(jsonHead(value, length)).toBe(whole.slice(0, length));
});

it('the head of a large value takes no time for the rest of it', () => {
  const unread = Object.defineProperty({}, 'content', {
    get: () => expect.unreachable('a later member was read'),
    enumerable: true,
  });
  expect(jsonHead([{ content: 'a'.repeat(100) }, unread], 100)).toBe(`[{"content":"${'a'.repeat(87)}`);
  const text = 'a'.repeat(1_000_000);
  for (let i = 0; i < 100_000; i++) jsonHead([text], 100);
});
