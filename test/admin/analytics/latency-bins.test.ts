import { expect, it } from 'vitest';
import { binOf, quantilesOf, relativeAccuracy } from '../../../admin/analytics/latency-bins.ts';

it.each([
  [[46, 6, 355, 121], 0.99, 347.98],
  [[46, 6, 355, 121], 0.95, 319.9],
  [[46, 6, 355, 121], 0.5, 83.5],
  [[46, 6, 355, 121], 1, 355],
  [[64], 0.99, 64],
  [[10, 10, 10, 1_000], 0.5, 10],
])('percentiles: those of %j at %d are between the requests around them', (latencies, quantile, exact) => {
  const counts = latencies.map((ms) => ({ bin: binOf(ms), count: 1 }));
  const [value = 0] = quantilesOf(counts, [quantile]);
  expect(Math.abs(value - exact)).toBeLessThanOrEqual(exact * relativeAccuracy);
});

it('percentiles: bins without requests and no bins at all are 0', () => {
  expect(quantilesOf([{ bin: 5, count: 0 }], [0.5, 0.99])).toEqual([0, 0]);
  expect(quantilesOf([], [0.5])).toEqual([0]);
});
