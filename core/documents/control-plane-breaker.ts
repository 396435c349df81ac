import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import { backoffMs } from '../contract/values/time/backoff.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';

/** Decides when calls to the control plane are sent. After a failure there is a pause, and then one call at a time: the probe. */
export interface Breaker {
  /** Milliseconds for which calls are rejected without being sent. 0: calls are sent. */
  waitMs(): number;
  /** Begins a call. True: it is the probe. Other calls wait for it or are rejected at once. */
  begin(): boolean;
  /** Resolves after this time, or when a probe has succeeded or failed. */
  endOfPause(afterMs: number): Promise<void>;
  failed(cause: unknown, probing: boolean): void;
  succeeded(): void;
}

interface Options {
  readonly clock: Clock;
  readonly timers: Timers;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** Time limit of the one call that tests if an unreachable control plane is back. */
export const probeTimeoutMs = 1000;
/**
 * The longest pause between two attempts is short: a change made during an outage must take effect within a second of its end.
 */
const backoff = { firstMs: 50, maxMs: 500 };

/** Returns a breaker that logs the beginning and the end of each outage. */
export function createBreaker({ clock, timers, random, log }: Options): Breaker {
  let failures = 0;
  let closedUntilMs = 0;
  const wakers = new Set<() => void>();

  function waitMs(): number {
    return Math.max(0, closedUntilMs - clock.elapsed());
  }

  function wakeAll(): void {
    for (const wake of wakers) wake();
  }

  return {
    waitMs,

    begin() {
      const probing = failures > 0;
      if (probing) closedUntilMs = clock.elapsed() + probeTimeoutMs;
      return probing;
    },

    endOfPause(afterMs) {
      return new Promise((resolve) => {
        const wake = () => {
          cancel();
          wakers.delete(wake);
          resolve();
        };
        const cancel = timers.after(afterMs, wake);
        wakers.add(wake);
      });
    },

    failed(cause, probing) {
      // Concurrent calls that fail together count as one failure.
      if (!probing && waitMs() > 0) return;
      failures += 1;
      closedUntilMs = clock.elapsed() + backoffMs(backoff, failures, random);
      wakeAll();
      if (failures === 1) log.warn({ reason: messageOf(cause) }, 'control plane unreachable; serving with known documents');
    },

    succeeded() {
      if (failures > 0) log.info({ failures }, 'control plane reachable again');
      failures = 0;
      closedUntilMs = 0;
      wakeAll();
    },
  };
}
