/** Delayed calls. Tests replace them to control the time. */
export interface Timers {
  /** Calls back once after `delayMs`. The returned function cancels the call and may be called at any time. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The timers of the process. They do not keep the process alive. */
export const realTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
