import type { AttemptResult, RequestContext } from '../contract/plugin/context.ts';
import type { Retry, Target } from '../contract/plugin/plan.ts';
import type { ReplySink } from '../contract/values/http.ts';
import type { Timers } from '../contract/values/timers.ts';
import { mayRetry, retryWaitMs } from './attempt/retry-wait.ts';
import type { AttemptReply } from './attempt-reply.ts';
import type { Dispatcher } from './dispatch.ts';
import { clientClosed, runAttempt } from './run-attempt.ts';
import type { ResolvedTarget } from './target/resolve-target.ts';

/** Runs one attempt, or as many as the target's `retry` allows. */
export function runTarget(
  ctx: RequestContext,
  sink: ReplySink,
  target: Target,
  resolved: ResolvedTarget,
  dueMs: number,
  dispatcher: Dispatcher,
): Promise<AttemptReply> {
  if (target.retry !== null) return runRetries(ctx, sink, target, target.retry, resolved, dueMs, dispatcher);
  const beganMs = dispatcher.services.clock.elapsed();
  const given = { target, resolved, isLast: true, beganMs, timeMs: dueMs - beganMs };
  ctx.retryAttemptCount = 0;
  return runAttempt(ctx, sink, given, dispatcher);
}

/**
 * Runs the attempts at a target that has a `retry`. Stops at a reply that is accepted or has begun to be sent, when the attempts
 * are used up, and when the next one would be too late or beyond the budget. `dueMs`: monotonic time limit of the whole request.
 */
async function runRetries(
  ctx: RequestContext,
  sink: ReplySink,
  target: Target,
  retry: Retry,
  resolved: ResolvedTarget,
  requestDueMs: number,
  dispatcher: Dispatcher,
): Promise<AttemptReply> {
  const { clock, random } = dispatcher.services;
  const account = retry.attempts > 0 ? dispatcher.retryBudget.of(ctx.identity?.organisationId ?? '', resolved.origin) : null;
  account?.request();
  const dueMs = Math.min(
    requestDueMs,
    retry.totalTimeMs === null ? Number.POSITIVE_INFINITY : clock.elapsed() + retry.totalTimeMs,
  );
  let waitedMs = 0;
  for (let retries = 0; ; retries++) {
    ctx.retryAttemptCount = retries;
    const beganMs = clock.elapsed();
    const timeMs = Math.min(retry.attemptTimeMs ?? Number.POSITIVE_INFINITY, dueMs - beganMs);
    const given = { target, resolved, isLast: retries >= retry.attempts, beganMs, timeMs };
    const reply = await runAttempt(ctx, sink, given, dispatcher);
    if (ctx.aborted) return reply;
    const last = ctx.attempts.at(-1) as AttemptResult;
    const stands = reply.kind === 'streamed' || reply.kind === 'replaced' || reply.kind === 'upgraded';
    if (stands || ctx.bodyTaken || !mayRetry(retry, last)) return reply;
    const waitMs = given.isLast ? null : retryWaitMs(retry, retries, waitedMs, last, random);
    const isLate = waitMs !== null && clock.elapsed() + waitMs >= dueMs;
    const isTooMuch = waitMs !== null && !isLate && !account?.retry();
    if (isLate) ctx.decide(target.path, 'total_time');
    if (isTooMuch) ctx.decide(target.path, 'retry_budget');
    if (waitMs === null || isLate || isTooMuch) {
      ctx.retryAttemptCount = -1;
      return reply;
    }
    waitedMs += waitMs;
    await waitUnlessLeft(ctx, waitMs, dispatcher.timers);
    if (ctx.aborted) return clientClosed();
  }
}

/** Resolves after `ms`, or as soon as the client has disconnected. */
function waitUnlessLeft(ctx: RequestContext, ms: number, timers: Timers): Promise<void> {
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
