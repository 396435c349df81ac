/** Time source of the gateway. Tests replace it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

/** The clock of the process. */
export const realClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
