import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { FrameBudget } from '../../../core/http/frame-budget.ts';

afterEach(() => vi.restoreAllMocks());

it('frame budget: many frames of one turn are accepted for a second', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const budget = new FrameBudget();
  const takeMany = () => Array.from({ length: 10_000 }, () => budget.take());
  expect(takeMany()).not.toContain(false);
  nowMs = 999;
  expect(takeMany()).not.toContain(false);
  nowMs = 1000;
  expect(takeMany()).toContain(false);
  await nextTurn();
  expect(takeMany()).not.toContain(false);
});

it('frame budget: few frames may take any time', () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs++ * 60_000);
  const budget = new FrameBudget();
  expect(Array.from({ length: 9_999 }, () => budget.take())).not.toContain(false);
});
