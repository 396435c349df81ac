import type { AttemptResult } from '../../contract/plugin/context.ts';
import { hooksFailed } from '../../contract/plugin/guardrails/hooks-failed.ts';
import type { Retry } from '../../contract/plugin/plan.ts';

/** Maximum length in milliseconds of a single wait, and of all waits at one target. */
const waitMsMax = 60_000;

/** Returns true if the result may be retried: its status is listed, and neither the caller nor the gateway caused it. */
export function mayRetry(retry: Retry | null, last: Pick<AttemptResult, 'status' | 'ok' | 'error'>): boolean {
  if (retry === null || retry.attempts === 0 || (last.ok && last.status !== hooksFailed)) return false;
  return retry.statusCodes.includes(last.status) && last.error?.source !== 'client';
}

/**
 * Returns the milliseconds until the next attempt: full jitter over 1, 2, 4, 8, 16 s, or the wait that the provider requests with
 * a 429. Null if the requested wait, alone or together with the previous waits (`waitedMs`), exceeds the maximum.
 */
export function retryWaitMs(
  retry: Retry,
  retries: number,
  waitedMs: number,
  last: AttemptResult,
  random: () => number,
): number | null {
  const asked = retry.useRetryAfter && last.status === 429 ? last.retryAfterMs : null;
  const waitMs = asked ?? random() * 1000 * 2 ** retries;
  return waitMs > waitMsMax || waitedMs + waitMs > waitMsMax ? null : waitMs;
}
