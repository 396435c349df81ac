/** Lifetime in milliseconds that proves that the process works. The next death then counts as a first one. */
export const provenAfterMs = 10_000;

/**
 * Returns the milliseconds to wait before a dead child is started again. After the first death it is restarted at once. Each further
 * death doubles the wait from 100 ms. A child that had become ready waits at most a second. A child that dies before it is ready,
 * which is a crash loop, waits up to 5 s.
 *
 * @param deaths deaths in a row, 1 for the first
 */
export function restartDelayMs(deaths: number, wasReady: boolean): number {
  if (deaths <= 1) return 0;
  return Math.min(100 * 2 ** Math.min(deaths - 2, 10), wasReady ? 400 : 5_000);
}
