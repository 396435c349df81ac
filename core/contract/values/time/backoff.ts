/** Pause after the first failure, and the longest one, in milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Returns the pause after a number of failures in a row, from 1. It doubles with each. A random part of up to half of it is left out, so that
 * processes that failed together do not try again together. `random` returns numbers from 0 to 1.
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: () => number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 10)) * (0.5 + random() / 2);
}
