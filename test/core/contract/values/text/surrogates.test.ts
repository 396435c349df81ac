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
