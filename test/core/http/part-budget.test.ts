import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { PartBudget } from '../../../core/http/part-budget.ts';

afterEach(() => vi.restoreAllMocks());

it('part budget: many parts of one turn are accepted for half a second', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const budget = new PartBudget();
  const takeMany = () => Array.from({ length: 10_000 }, () => budget.take());
  expect(takeMany()).not.toContain(false);
  nowMs = 499;
  expect(takeMany()).not.toContain(false);
  nowMs = 500;
  expect(takeMany()).toContain(false);
  await nextTurn();
  expect(takeMany()).not.toContain(false);
});

it('part budget: few parts may take any time', () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs++ * 60_000);
  const budget = new PartBudget();
  expect(Array.from({ length: 9_999 }, () => budget.take())).not.toContain(false);
});
