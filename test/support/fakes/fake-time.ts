import type { Clock } from '../../../core/contract/values/time/clock.ts';

/** Clock and timers under the control of a test. Time passes only in `advance`. */
export interface FakeTime {
  readonly clock: Clock;
  readonly timers: { after(delayMs: number, callback: () => void): () => void };
  /** Lets time pass, and calls due timers in order, each at its own time. */
  advance(durationMs: number): void;
  /** Sets the clock of the machine to a later or earlier time. No time passes. */
  setClock(byMs: number): void;
  /** Milliseconds until each waiting timer, soonest first. */
  waiting(): number[];
}

export function newFakeTime(startMs = 1_800_000_000_000): FakeTime {
  let elapsedMs = 0;
  let epochMs = startMs;
  const due = new Set<{ atMs: number; callback: () => void }>();
  const soonest = () => [...due].sort((a, b) => a.atMs - b.atMs)[0];
  return {
    clock: { now: () => epochMs + elapsedMs, elapsed: () => elapsedMs },
    timers: {
      after(delayMs, callback) {
        const timer = { atMs: elapsedMs + delayMs, callback };
        due.add(timer);
        return () => due.delete(timer);
      },
    },
    advance(durationMs) {
      const endMs = elapsedMs + durationMs;
      for (let next = soonest(); next && next.atMs <= endMs; next = soonest()) {
        due.delete(next);
        elapsedMs = Math.max(elapsedMs, next.atMs);
        next.callback();
      }
      elapsedMs = endMs;
    },
    setClock(byMs) {
      epochMs += byMs;
    },
    waiting: () => [...due].map((timer) => timer.atMs - elapsedMs).sort((a, b) => a - b),
  };
}
