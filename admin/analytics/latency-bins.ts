import { DDSketch } from '@datadog/sketches-js';

/** Maximum relative error of percentiles. Stored counts belong to bins of this width, so a change needs new roll-ups. */
export const relativeAccuracy = 0.02;

const { mapping } = new DDSketch({ relativeAccuracy });

/** Natural logarithm of the ratio between the bounds of a bin, for SQL. */
export const logGamma = Math.log(mapping.gamma);

/** Returns the bin of a latency. Latencies below one millisecond count as one, so bins start at 0. */
export function binOf(ms: number): number {
  return mapping.key(Math.max(1, ms));
}

/** Number of requests in one bin. */
export interface BinCount {
  readonly bin: number;
  readonly count: number;
}

/**
 * Returns the latency in milliseconds at each quantile (0 to 1), within `relativeAccuracy`; 0 if there were no requests. It lies between the
 * two requests around the quantile, as with `percentile_cont` of PostgreSQL: DDSketch returns the lower one, so that the slowest of fewer
 * than 100 requests would not change p99.
 */
export function quantilesOf(counts: readonly BinCount[], quantiles: readonly number[]): number[] {
  const bins = counts.filter(({ count }) => count > 0).toSorted((left, right) => left.bin - right.bin);
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return quantiles.map(() => 0);
  return quantiles.map((quantile) => {
    const position = quantile * (total - 1);
    const lower = latencyAt(bins, Math.floor(position));
    return lower + (latencyAt(bins, Math.ceil(position)) - lower) * (position % 1);
  });
}

/** Returns the latency of the request at this position, counted from 0 at the fastest. */
function latencyAt(bins: readonly BinCount[], position: number): number {
  let passed = 0;
  const found = bins.find(({ count }) => {
    passed += count;
    return passed > position;
  });
  return found ? mapping.value(found.bin) : 0;
}
