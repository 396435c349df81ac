/** Time as the gateway reads it; tests hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}
