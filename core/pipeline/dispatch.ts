import type { AttemptResult, RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { Retry, Target } from '../contract/plugin/plan.ts';
import type { PassedUsage } from '../contract/provider/passed-usage.ts';
import type { OperationName } from '../contract/provider/provider.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import type { UpstreamSender } from '../contract/provider/upstream.ts';
import { GatewayError, reasonOf, toGatewayError } from '../contract/values/errors/errors.ts';
import type { ReplySink } from '../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import type { LogFailedCall } from './attempt/failed-call-log.ts';
import type { OutgoingOptions } from './attempt/outgoing-call.ts';
import { withoutRefusedReasoning } from './attempt/refused-reasoning.ts';
import type { RetryBudget } from './attempt/retry-budget.ts';
import { mayRetry, retryWaitMs } from './attempt/retry-wait.ts';
import type { AttemptReply } from './attempt-reply.ts';
import { nameModelOfTarget } from './request/passed-request.ts';
import type { PromptSteps } from './run.ts';
import { type AttemptSteps, clientClosed, runAttempt } from './run-attempt.ts';
import { isRefusal } from './target/refusal.ts';
import type { ResolvedTarget, ResolveTarget } from './target/resolve-target.ts';
import type { MeterReply } from './usage/reply-meter.ts';

export interface Dispatcher {
  readonly transport: UpstreamSender;
  /** Sends the calls to the service's own store. */
  readonly ownStore: UpstreamSender;
  readonly resolve: ResolveTarget;
  readonly outgoing: OutgoingOptions;
  readonly services: CoreServices;
  readonly retryBudget: RetryBudget;
  readonly prompts: Pick<PromptSteps, 'adoptTarget'>;
  /** Steps around the attempts of some operations. */
  readonly stepsOf: Readonly<Partial<Record<OperationName, AttemptSteps>>>;
  /** Timers of the waits between retries. */
  readonly timers: Timers;
  /** Reads usage from replies that are passed through. */
  readonly passedUsage: PassedUsage;
  readonly meterReply: MeterReply;
  readonly logFailedCall: LogFailedCall;
  /** For providers that sign calls with tokens they fetch. */
  readonly sign: SignServices;
  /** Like `sign`, for stored providers that may use the machine's identity. Absent: they are signed like all others. */
  readonly signStored?: SignServices;
}

/**
 * The loop over targets. A target's retries are used up before the strategy is asked for the next target. The strategy is asked
 * until it has none left or the total time is over. The client gets the last reply. After the first byte was sent there is no
 * further attempt.
 */
export async function dispatch(ctx: RequestContext, sink: ReplySink, dispatcher: Dispatcher): Promise<AttemptReply> {
  const { plan } = ctx;
  const { clock } = dispatcher.services;
  const dueMs = plan.totalTimeMs === null ? Number.POSITIVE_INFINITY : clock.elapsed() + plan.totalTimeMs;
  const { metadata } = ctx;
  let last: AttemptResult | null = null;
  let reply: AttemptReply | null = null;
  /** Path of the target whose accepted response is `reply`. If another target replaces it, its provider bills it too. */
  let acceptedPath: string | null = null;
  for (;;) {
    const target = plan.onTarget(ctx, last);
    if (!target) return reply ?? { kind: 'error', error: new GatewayError('missing_provider') };
    if (reply !== null && dueMs !== Number.POSITIVE_INFINITY && clock.elapsed() >= dueMs) {
      ctx.decide(target.path, 'total_time');
      return reply;
    }
    const { targetPath, metadata: metadataBefore } = ctx;
    ctx.targetPath = target.path;
    ctx.metadata = target.metadata === null ? metadata : { ...target.metadata, ...metadata };
    if (ctx.prompt !== null && plan.hasPrompts) dispatcher.prompts.adoptTarget(ctx, ctx.prompt, target);
    const found = resolveOrFail(ctx, target, dispatcher);
    const resolved = isPromise(found) ? await found : found;
    if (ctx.aborted) return clientClosed();
    if (resolved instanceof GatewayError) {
      last = unresolved(ctx, target, resolved);
      ctx.attempts.push(last);
      // A provider's reply is more useful to the caller than the error of a target that was not called.
      if (reply !== null && resolved.code === 'invalid_provider') {
        ctx.targetPath = targetPath;
        ctx.metadata = metadataBefore;
      } else {
        if (acceptedPath !== null) ctx.discardUsage(acceptedPath);
        acceptedPath = null;
        reply = { kind: 'error', error: resolved };
      }
      continue;
    }
    if (acceptedPath !== null) ctx.discardUsage(acceptedPath);
    ctx.provider = resolved.adapter.id;
    ctx.providerSlug = resolved.slug;
    if (ctx.passed !== null) nameModelOfTarget(ctx, resolved.adapter);
    const attemptsBefore = ctx.attempts.length;
    const leave = plan.onTargetStart.length === 0 ? null : enter(ctx, target, dispatcher.services.log);
    let called = resolved;
    reply = await runTarget(ctx, sink, target, resolved, dueMs, dispatcher);
    if (resolved.renew) {
      const renewed = await renewCredential(ctx, reply, resolved.renew, () => resolveOrFail(ctx, target, dispatcher));
      if (renewed && clock.elapsed() < dueMs) {
        called = renewed;
        reply = await runTarget(ctx, sink, target, renewed, dueMs, dispatcher);
      }
    }
    const outgoing = withoutRefusedReasoning(reply, target, dispatcher.outgoing);
    if (outgoing && !ctx.aborted && !ctx.bodyTaken && clock.elapsed() < dueMs)
      reply = await runTarget(ctx, sink, target, called, dueMs, { ...dispatcher, outgoing });
    leave?.(ctx.attempts.length === attemptsBefore || reply.kind === 'replaced' ? null : (ctx.attempts.at(-1) as AttemptResult));
    // If the client disconnected, its record is already written, with the attempt that was in progress.
    if (ctx.aborted) return reply;
    last = ctx.attempts.at(-1) as AttemptResult;
    if (isSettled(ctx, reply)) return reply;
    acceptedPath = last.ok ? target.path : null;
  }
}

/** Runs one attempt, or as many as the target's `retry` allows. */
function runTarget(
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
 * are used up, and when the next one would be too late or beyond the budget. `requestDueMs`: monotonic time limit of the whole request.
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
    if (isSettled(ctx, reply) || !mayRetry(retry, last)) return reply;
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
    if (last.ok) ctx.discardUsage();
  }
}

/**
 * True if no attempt can follow: the reply has begun, a plugin gave it, the streamed body of the request cannot be sent again, or this process
 * has no memory for a response. Each further attempt would be billed too. A target that this machine could not connect to was not called.
 */
function isSettled(ctx: RequestContext, reply: AttemptReply): boolean {
  const { kind } = reply;
  if (kind !== 'error') return kind === 'streamed' || kind === 'replaced' || kind === 'upgraded' || ctx.bodyTaken;
  const hasResponse = typeof ctx.attempts.at(-1)?.upstreamFirstByteMs === 'number';
  return ctx.bodyTaken || (reply.error.code === 'overloaded' && hasResponse);
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

/**
 * Returns the error of a target that cannot be used (its provider is unknown, expired or cannot be looked up right now) as a failed
 * attempt, so that the strategy can choose another. Throws if the config or the request is invalid: no other target would help.
 */
function resolveOrFail(ctx: RequestContext, target: Target, dispatcher: Dispatcher): Maybe<ResolvedTarget | GatewayError> {
  const failed = (thrown: unknown): GatewayError => {
    const error = toGatewayError(thrown);
    if (error.retryable) return error;
    throw error;
  };
  try {
    const found = dispatcher.resolve(ctx, target);
    return isPromise(found) ? found.catch(failed) : found;
  } catch (thrown) {
    return failed(thrown);
  }
}

/** Runs the plugin hooks before a target is called. Returns a function that runs the hooks for leaving the target. */
function enter(ctx: RequestContext, target: Target, log: CoreServices['log']): (last: AttemptResult | null) => void {
  const leave = ctx.plan.onTargetStart.map((hook) => hook(ctx, target));
  return (last) => {
    for (const each of leave) {
      try {
        each?.(last);
      } catch (thrown) {
        log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'the callback that onTargetStart of a plugin returned failed');
      }
    }
  };
}

/** Returns the result of a target that was not called because it cannot be used. */
function unresolved(ctx: RequestContext, target: Target, error: GatewayError): AttemptResult {
  const named = (target.provider ?? ctx.requestTarget?.provider ?? '').slice(0, 255);
  return {
    targetPath: target.path,
    targetIndex: target.index,
    provider: named,
    providerSlug: named.startsWith('@') ? named.slice(1) : null,
    status: error.status,
    errorCode: error.code,
    durationMs: 0,
    ok: false,
    error,
    retryAfterMs: null,
    firstByteMs: 0,
  };
}

/**
 * Reads a credential from its secret manager again after the provider has refused it. Returns the target with the new credential
 * for one more attempt. Null if the credential has not changed, or if the request cannot be sent again.
 */
export async function renewCredential(
  ctx: RequestContext,
  reply: AttemptReply,
  renew: () => Promise<boolean>,
  resolve: () => Maybe<ResolvedTarget | GatewayError>,
): Promise<ResolvedTarget | null> {
  if (ctx.aborted || !isRefused(ctx, reply)) return null;
  const renewing = renew();
  const isOver = reply.kind === 'streamed' || ctx.bodyTaken;
  if (isOver || !(await renewing) || ctx.aborted) return null;
  try {
    const found = await resolve();
    return found instanceof GatewayError ? null : found;
  } catch {
    // The provider was changed or deleted in the meantime: its response is final, and the call of its target ends as usual.
    return null;
  }
}

/** Returns true if the provider itself refused, not a plugin or the gateway. */
function isRefused(ctx: RequestContext, reply: AttemptReply): boolean {
  if (reply.kind === 'replaced' || (reply.kind === 'error' && reply.error.source !== 'upstream')) return false;
  return isRefusal(ctx.attempts.at(-1)?.status ?? 0);
}
