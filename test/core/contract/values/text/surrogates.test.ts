import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { cutText } from '../../../../../core/contract/values/text/cut-text.ts';
import { endsWithHalf } from '../../../../../core/contract/values/text/surrogates.ts';

it('endsWithHalf: is true only between the halves of a surrogate pair', () => {
  const text = 'a\u{1f600}\ue000\u{10ffff}';
  const positions = Array.from({ length: text.length + 1 }, (_, end) => end);
  expect(positions.filter((end) => endsWithHalf(text, end))).toEqual([2, 5]);
});

it('cutText: omits half of a surrogate pair at the end', () => {
  expect([0, 1, 2, 3, 4].map((max) => cutText('a\u{1f600}b', max))).toEqual(['', 'a', 'a', 'a\u{1f600}', 'a\u{1f600}b']);
});

it('cutText: the result keeps nothing of the rest of the text', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const parts = Array.from({ length: 20 }, (_, at) => cutText(`${at}`.padEnd(1_000_000, 'x'), 255));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  expect(parts).toHaveLength(20);
});
