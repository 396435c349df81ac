/** How long a life counts as proof that the process works: the next death is then a first one again. */
export const provenAfterMs = 10_000;

/**
 * Milliseconds to wait before a dead child is started again. The first death is answered at once, each further one doubles
 * the wait from 100 ms. A child that had become ready is back within a second however often that happens; only one that dies
 * before it is ready, which is a crash loop, comes to wait up to 5 s.
 *
 * @param deaths deaths in a row, 1 for the first
 */
export function restartDelayMs(deaths: number, wasReady: boolean): number {
  if (deaths <= 1) return 0;
  return Math.min(100 * 2 ** Math.min(deaths - 2, 10), wasReady ? 400 : 5_000);
}
