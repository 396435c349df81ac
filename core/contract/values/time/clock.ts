/** Time source of the gateway. Tests replace it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}
