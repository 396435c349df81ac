/** Delayed calls. Tests replace them to control the time. */
export interface Timers {
  /** Calls back once after `delayMs`; the returned function cancels it and may be called at any time. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The process's own timers. They never keep a process alive. */
export const realTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
