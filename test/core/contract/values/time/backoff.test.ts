import { expect, it } from 'vitest';
import { backoffMs } from '../../../../../core/contract/values/time/backoff.ts';

it('back-off: doubles up to the longest pause, less a random part of up to half', () => {
  const limits = { firstMs: 100, maxMs: 1_000 };
  expect([1, 2, 3, 4, 5, 5_000].map((failures) => backoffMs(limits, failures, () => 1))).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
  expect(backoffMs(limits, 2, () => 0)).toBe(100);
});
