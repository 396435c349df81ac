import { expect, test } from 'vitest';
import { percentDecodedAnyway } from '../../../../../core/contract/values/text/percent-decoded.ts';

test.each([
  ['a text without escapes', 'ж 100% a', 'ж 100% a'],
  ['valid escapes', '%66ine%20%D0%B6', 'fine ж'],
  ['an escape that is not UTF-8', '%66ine %FF ж', 'fine \ufffd ж'],
  ['an escape that is none', '%66ine %zz ж', 'fine %zz ж'],
])('percent-decoded text: %s', (_name, text, decoded) => {
  expect(percentDecodedAnyway(text)).toBe(decoded);
});
