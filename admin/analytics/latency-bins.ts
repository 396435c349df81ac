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

/** Returns the latency in milliseconds at each quantile (0 to 1), within `relativeAccuracy`; 0 if there were no requests. */
export function quantilesOf(counts: readonly BinCount[], quantiles: readonly number[]): number[] {
  const sketch = new DDSketch({ relativeAccuracy });
  for (const { bin, count } of counts) if (count > 0) sketch.accept(mapping.value(bin), count);
  return quantiles.map((quantile) => (sketch.count === 0 ? 0 : sketch.getValueAtQuantile(quantile)));
}
