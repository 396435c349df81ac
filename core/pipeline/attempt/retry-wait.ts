import type { AttemptResult, RequestContext } from '../../contract/plugin/context.ts';
import type { Retry } from '../../contract/plugin/plan.ts';
import type { Timers } from '../../contract/values/timers.ts';

/** Longest single wait, and longest sum of waits, before a target is given up (data-plane §4.5). */
const waitMsMax = 60_000;

/** Returns true if the result may be retried: its status is listed, and neither the caller nor the gateway caused it. */
export function mayRetry(retry: Retry | null, last: AttemptResult): boolean {
  if (retry === null || retry.attempts === 0 || last.ok) return false;
  return retry.statusCodes.includes(last.status) && last.error?.source !== 'client';
}

/**
 * Milliseconds until the next try: full jitter over 1, 2, 4, 8, 16 s, or what the provider asked for on a 429. Null when it asks
 * for longer than anyone should wait, by itself or together with the waits before (`waitedMs`).
 */
export function retryWaitMs(
  retry: Retry,
  tries: number,
  waitedMs: number,
  last: AttemptResult,
  random: () => number,
): number | null {
  const asked = retry.useRetryAfter && last.status === 429 ? last.retryAfterMs : null;
  const waitMs = asked ?? random() * 1000 * 2 ** tries;
  return waitMs > waitMsMax || waitedMs + waitMs > waitMsMax ? null : waitMs;
}

/** Resolves after `ms`, or as soon as the client has left. */
export function waitUnlessLeft(ctx: RequestContext, ms: number, timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.after(ms, done);
    ctx.abortUpstream = done;
    function done(): void {
      cancel();
      ctx.abortUpstream = null;
      resolve();
    }
  });
}
