import type { AttemptResult, RequestContext } from '../contract/context.ts';
import { GatewayError, toGatewayError } from '../contract/errors.ts';
import type { ReplySink } from '../contract/http.ts';
import { isPromise, type Maybe } from '../contract/json.ts';
import type { Retry, Target } from '../contract/plan.ts';
import type { Clock, Services } from '../contract/plugin.ts';
import type { SignServices } from '../contract/provider.ts';
import type { UpstreamTransport } from '../contract/upstream.ts';
import { type Answer, attempt } from './attempt.ts';
import { type OutgoingOptions, proxyCall, shapedCall } from './outgoing.ts';
import type { ResolvedTarget, ResolveTarget } from './resolve-target.ts';

export interface Dispatcher {
  readonly transport: UpstreamTransport;
  readonly resolve: ResolveTarget;
  readonly outgoing: OutgoingOptions;
  readonly services: Services;
  /** For providers that sign calls with tokens they fetch. */
  readonly sign: SignServices;
  /** The same for stored providers, where these may be called as the machine; without it they are called like all others. */
  readonly signStored?: SignServices;
}

/** Longest single wait, and longest sum of waits, before a target is given up (data-plane §4.5). */
const waitMsMax = 60_000;

/**
 * The one loop of retries and targets. A target's retries are used up before the strategy is asked for the next one; the
 * strategy is asked until it has none left, and the last answer is the client's. Nothing is tried again once a byte has left.
 */
export async function dispatch(ctx: RequestContext, sink: ReplySink, dispatcher: Dispatcher): Promise<Answer> {
  let last: AttemptResult | null = null;
  let answer: Answer | null = null;
  for (;;) {
    const target = ctx.plan.onTarget(ctx, last);
    if (!target) return answer ?? { kind: 'error', error: new GatewayError('missing_provider') };
    ctx.targetPath = target.path;
    const found = resolveOrFail(ctx, target, dispatcher);
    const resolved = isPromise(found) ? await found : found;
    if (ctx.aborted) return clientClosed();
    if (resolved instanceof GatewayError) {
      last = unresolved(target, resolved);
      ctx.attempts.push(last);
      answer = { kind: 'error', error: resolved };
      continue;
    }
    ctx.provider = resolved.adapter.id;
    ctx.providerSlug = resolved.slug;
    let waitedMs = 0;
    for (let tries = 0; ; tries++) {
      const isLastTry = tries >= (target.retry?.attempts ?? 0);
      ctx.retryAttemptCount = tries;
      const begun: number = dispatcher.services.clock.elapsed();
      answer = await tryTarget(ctx, sink, target, resolved, isLastTry, begun, dispatcher);
      // The record of a client that left is written already, with the try that was under way.
      if (ctx.aborted) return answer;
      last = resultOf(answer, target, resolved, dispatcher.services.clock, begun);
      ctx.attempts.push(last);
      if (answer.kind === 'streamed' || answer.kind === 'replaced' || ctx.bodyTaken) return answer;
      if (!canRetry(target.retry, last)) break;
      if (isLastTry) {
        ctx.retryAttemptCount = -1;
        break;
      }
      const waitMs = retryWaitMs(target.retry as Retry, tries, last, dispatcher.services.random());
      waitedMs += waitMs ?? waitMsMax;
      if (waitMs === null || waitedMs > waitMsMax) {
        ctx.retryAttemptCount = -1;
        break;
      }
      await wait(ctx, waitMs);
      if (ctx.aborted) return clientClosed();
    }
  }
}

/**
 * What could not be looked up right now counts as a failed try, so that a fallback may go on; a fault of the config or the caller
 * is thrown, for no other target makes it right.
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

/** The result of a target that was never reached because it could not be looked up. */
function unresolved(target: Target, error: GatewayError): AttemptResult {
  return {
    targetPath: target.path,
    targetIndex: target.index,
    provider: target.provider ?? '',
    providerSlug: target.provider?.startsWith('@') ? target.provider.slice(1) : null,
    status: error.status,
    errorCode: error.code,
    durationMs: 0,
    ok: false,
    error,
    retryAfterMs: null,
  };
}

function clientClosed(): Answer {
  return { kind: 'error', error: new GatewayError('client_closed') };
}

async function tryTarget(
  ctx: RequestContext,
  sink: ReplySink,
  target: Target,
  resolved: ResolvedTarget,
  isLastTry: boolean,
  begun: number,
  dispatcher: Dispatcher,
): Promise<Answer> {
  try {
    for (const hook of ctx.plan.onUpstream) {
      const outcome = hook(ctx, target);
      const reply = isPromise(outcome) ? await outcome : outcome;
      if (reply) return { kind: 'replaced', reply };
    }
    const shape = ctx.endpoint?.operation ? shapedCall : proxyCall;
    const outgoing = shape(ctx, target, resolved, dispatcher.outgoing);
    if (resolved.adapter.sign) {
      const signed = {
        ...outgoing.call,
        headers: [...outgoing.call.headers],
        body: outgoing.call.body instanceof Uint8Array ? outgoing.call.body : null,
      };
      const services = resolved.slug === null ? dispatcher.sign : (dispatcher.signStored ?? dispatcher.sign);
      const signing = resolved.adapter.sign(signed, resolved.settings, resolved.credentials, services);
      if (isPromise(signing)) await signing;
      Object.assign(outgoing.call, { headers: signed.headers, path: signed.path, origin: signed.origin });
    }
    // The client may have left while a hook or a token endpoint took its time: nobody is asked for nobody.
    if (ctx.aborted) return clientClosed();
    const { transport, services } = dispatcher;
    return await attempt(ctx, sink, resolved, outgoing, {
      transport,
      clock: services.clock,
      onLeft: () => void ctx.attempts.push(resultOf(clientClosed(), target, resolved, services.clock, begun)),
      isFinal: (status) => {
        // A body that was streamed is gone: whatever the answer is, there is no second one.
        if (ctx.bodyTaken) return true;
        if (!isLastTry && target.retry?.statusCodes.includes(status)) return false;
        const seen = {
          ...resultShape(target, resolved),
          status,
          ok: status < 300,
          error: null,
          errorCode: null,
          durationMs: 0,
          retryAfterMs: null,
        };
        return ctx.plan.onTarget(ctx, seen) === null;
      },
    });
  } catch (thrown) {
    return { kind: 'error', error: toGatewayError(thrown) };
  }
}

function resultOf(answer: Answer, target: Target, resolved: ResolvedTarget, clock: Clock, begun: number): AttemptResult {
  const error = answer.kind === 'replaced' ? null : answer.error;
  const status = answer.kind === 'error' ? answer.error.status : answer.kind === 'replaced' ? answer.reply.status : answer.status;
  return {
    ...resultShape(target, resolved),
    status,
    errorCode: error?.code ?? null,
    durationMs: Math.max(0, clock.elapsed() - begun),
    ok: answer.kind !== 'error' && status >= 200 && status < 300,
    error,
    retryAfterMs: answer.kind === 'plain' ? answer.retryAfterMs : null,
  };
}

function resultShape(
  target: Target,
  resolved: ResolvedTarget,
): Pick<AttemptResult, 'targetPath' | 'provider' | 'providerSlug' | 'targetIndex'> {
  return { targetPath: target.path, provider: resolved.adapter.id, providerSlug: resolved.slug, targetIndex: target.index };
}

function canRetry(retry: Retry | null, last: AttemptResult): boolean {
  if (!retry || retry.attempts === 0 || last.ok) return false;
  return retry.statusCodes.includes(last.status) && last.error?.source !== 'client';
}

/**
 * Full jitter over 1, 2, 4, 8, 16 s; or what the provider asked for on a 429. Null: the provider asks for longer than anyone
 * should wait.
 */
function retryWaitMs(retry: Retry, tries: number, last: AttemptResult, random: number): number | null {
  if (retry.useRetryAfter && last.status === 429 && last.retryAfterMs !== null) {
    return last.retryAfterMs > waitMsMax ? null : last.retryAfterMs;
  }
  return random * 1000 * 2 ** tries;
}

function wait(ctx: RequestContext, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    ctx.abortUpstream = done;
    function done(): void {
      clearTimeout(timer);
      ctx.abortUpstream = null;
      resolve();
    }
  });
}
