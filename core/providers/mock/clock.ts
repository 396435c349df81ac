/** Time source of the mock. Tests replace it. */
export interface MockClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Runs the callback once after this many milliseconds (0: as soon as the caller has returned). Returns a function that cancels
   * it.
   */
  after(delayMs: number, callback: () => void): () => void;
}

export const wallClock: MockClock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    if (delayMs <= 0) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
