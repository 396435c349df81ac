/** Milliseconds by which the clocks of control planes may differ. */
const differenceMs = 5_000;

/**
 * Returns the latest time at which a usable entry was stored, in milliseconds. An entry with a later one was stored before the clock was set back.
 * It would be served after its lifetime, by as much as the clock was set back.
 */
export function latestCreation(nowMs: number): number {
  return nowMs + differenceMs;
}
