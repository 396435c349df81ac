import { checkBatch } from '../batches/check-batch.ts';
import { noteBatch } from '../batches/note-batch.ts';
import type { AttemptResult, RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { OutgoingCall } from '../contract/provider/provider.ts';
import type { UpstreamTimeouts, UpstreamTransport } from '../contract/provider/upstream.ts';
import type { Clock } from '../contract/values/clock.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors.ts';
import type { ReplySink } from '../contract/values/http.ts';
import { isPromise, type Maybe } from '../contract/values/json.ts';
import type { Answer } from './answer.ts';
import { judgeHead, judgeWhole } from './attempt/judge-response.ts';
import { proxyCall, shapedCall } from './attempt/outgoing-call.ts';
import type { JudgeStream } from './attempt/reply-stream.ts';
import { mayRetry } from './attempt/retry-wait.ts';
import { runSteps } from './attempt/run-steps.ts';
import { attempt } from './attempt/send-attempt.ts';
import { isSession, socketCall } from './attempt/socket-call.ts';
import type { Dispatcher } from './dispatch.ts';
import { stepBytes } from './request/large-json/json-steps.ts';
import { encodeLarge } from './request/large-json/large-json.ts';
import { targetOfModel } from './target/gate-models.ts';
import { isRefusal } from './target/renew-credential.ts';
import type { ResolvedTarget } from './target/resolve-target.ts';
import { isEstimated } from './usage/estimate-usage.ts';
import { countRoughly } from './usage/unfinished-usage.ts';

/** One try: which target, whether there is another after it, and how long it may take. */
export interface AttemptPlan {
  readonly target: Target;
  readonly resolved: ResolvedTarget;
  readonly isLast: boolean;
  /** Monotonic milliseconds. */
  readonly beganMs: number;
  /** Milliseconds it may take at most, Infinity for no limit beside the usual ones. */
  readonly timeMs: number;
}

/** Shapes the call, sends it, and follows its reply. Never throws: what goes wrong is the answer. */
export async function runAttempt(
  ctx: RequestContext,
  sink: ReplySink,
  given: AttemptPlan,
  dispatcher: Dispatcher,
): Promise<Answer> {
  const { target } = given;
  try {
    for (const hook of ctx.plan.onAttempt) {
      const outcome = hook(ctx, target);
      const reply = isPromise(outcome) ? await outcome : outcome;
      if (reply) return { kind: 'replaced', reply };
    }
    const resolved = given.resolved.ofModel ? await targetOfModel(ctx, target, given.resolved) : given.resolved;
    if (ctx.requestBytes > stepBytes) await ctx.memory?.turn();
    const shape = ctx.endpoint?.operation ? shapedCall : isSession(ctx) ? socketCall : proxyCall;
    const outgoing = shape(ctx, target, resolved, dispatcher.outgoing);
    if (outgoing.json) {
      Object.assign(outgoing.call, { body: await encodeLarge(ctx, outgoing.json, ctx.requestBytes) });
    }
    if (given.timeMs !== Number.POSITIVE_INFINITY) {
      Object.assign(outgoing.call, { timeouts: within(outgoing.call.timeouts, given.timeMs) });
    }
    if (given.resolved.ofModel && ctx.endpoint?.operation === 'createBatch') {
      await checkBatch(ctx, resolved, outgoing, stepTransport(ctx, target, resolved, dispatcher), given.resolved.ofModel);
    }
    if (outgoing.operation?.steps) {
      await announce(ctx);
      if (ctx.aborted) return clientClosed();
      const answer = await runSteps(ctx, sink, resolved, outgoing, stepTransport(ctx, target, resolved, dispatcher));
      return await judged(ctx, given, withBatch(ctx, given, answer), dispatcher);
    }
    if (resolved.adapter.sign) {
      const signed = {
        ...outgoing.call,
        headers: [...outgoing.call.headers],
        body: outgoing.call.body instanceof Uint8Array ? outgoing.call.body : null,
      };
      const signing = signCall(ctx, signed, resolved, dispatcher);
      if (isPromise(signing)) await signing;
      Object.assign(outgoing.call, { headers: signed.headers, path: signed.path, origin: signed.origin });
    }
    // No call is sent for a client that has left while a hook or a token endpoint took its time.
    if (ctx.aborted) return clientClosed();
    const announced = announce(ctx);
    if (announced) await announced;
    if (ctx.aborted) return clientClosed();
    const { transport, services, passedUsage } = dispatcher;
    const answer = await attempt(ctx, sink, resolved, outgoing, {
      transport,
      passedUsage,
      clock: services.clock,
      judge: judgeOf(ctx, target, services.clock),
      onLeft: () => void ctx.attempts.push(resultOf(ctx, clientClosed(), given, services.clock)),
      isFinal: (status) => {
        // A body that was streamed is gone: whatever the answer is, there is no second one.
        if (ctx.bodyTaken) return true;
        // There may be another credential by now.
        if (given.resolved.renew && isRefusal(status)) return false;
        if (!given.isLast && target.retry?.statusCodes.includes(status)) return false;
        const seen = {
          ...resultShape(given),
          status,
          ok: status < 300,
          error: null,
          errorCode: null,
          durationMs: 0,
          firstByteMs: 0,
          retryAfterMs: null,
        };
        if (ctx.plan.onTarget(ctx, seen) !== null) return false;
        // Its headers leave before the loop of tries hears of it.
        if (mayRetry(target.retry, seen)) ctx.retryAttemptCount = -1;
        return true;
      },
    });
    return await judged(ctx, given, withBatch(ctx, given, answer), dispatcher);
  } catch (thrown) {
    return { kind: 'error', error: toGatewayError(thrown) };
  }
}

/** Runs the plugin hooks before the call is sent. Returns a promise if a hook is asynchronous. */
function announce(ctx: RequestContext, at = 0): Promise<void> | undefined {
  const { onSend } = ctx.plan;
  for (let i = at; i < onSend.length; i++) {
    const done = onSend[i]?.(ctx);
    if (isPromise(done)) return done.then(() => announce(ctx, i + 1));
  }
  return undefined;
}

/** Asks plugins about a whole response that the provider accepted. Responses that stream are judged by their head, while they start. */
function judged(ctx: RequestContext, given: AttemptPlan, answer: Answer, { services }: Dispatcher): Maybe<Answer> {
  if (ctx.plan.onAttemptResponse.length === 0 || answer.kind !== 'plain' || answer.error !== null || ctx.aborted) return answer;
  // A client that leaves while a plugin decides has caused this attempt all the same.
  ctx.abortUpstream = () => {
    if (isEstimated(ctx)) countRoughly(ctx, ctx.stream ? null : answer.body);
    ctx.attempts.push(resultOf(ctx, answer, given, services.clock));
  };
  return judgeWhole(ctx, given.target, answer, services.clock).finally(() => {
    ctx.abortUpstream = null;
  });
}

function withBatch(ctx: RequestContext, { target, resolved }: AttemptPlan, answer: Answer): Answer {
  if (ctx.endpoint?.operation === 'createBatch') noteBatch(ctx, target, resolved, answer);
  return answer;
}

/** Returns the function that judges responses by their head; null if no plugin judges responses. */
function judgeOf(ctx: RequestContext, target: Target, clock: Clock): JudgeStream | null {
  return ctx.plan.onAttemptResponse.length === 0 ? null : (head) => judgeHead(ctx, target, head, clock);
}

/** Dependencies shared by the exchanges of one operation. */
export interface StepTransport {
  readonly transport: UpstreamTransport;
  readonly clock: Clock;
  readonly judge: JudgeStream | null;
  /** Signs one of the calls in place, where the provider asks for that. */
  sign(call: OutgoingCall): Maybe<void>;
}

function stepTransport(ctx: RequestContext, target: Target, resolved: ResolvedTarget, dispatcher: Dispatcher): StepTransport {
  const { transport, services } = dispatcher;
  const judge = judgeOf(ctx, target, services.clock);
  return { transport, clock: services.clock, judge, sign: (call) => signCall(ctx, call, resolved, dispatcher) };
}

function signCall(
  ctx: RequestContext,
  call: OutgoingCall,
  { adapter, slug, settings, credentials }: ResolvedTarget,
  dispatcher: Dispatcher,
): Maybe<void> {
  const services = slug === null ? dispatcher.sign : (dispatcher.signStored ?? dispatcher.sign);
  return adapter.sign?.(call, settings, credentials, services, ctx.metadata);
}

/** The answer of a request whose client has left. */
export function clientClosed(): Answer {
  return { kind: 'error', error: new GatewayError('client_closed') };
}

/** Returns the result of an attempt for strategies and records. */
export function resultOf(ctx: RequestContext, answer: Answer, given: AttemptPlan, clock: Clock): AttemptResult {
  const error = answer.kind === 'replaced' ? null : answer.error;
  const status = answer.kind === 'error' ? answer.error.status : answer.kind === 'replaced' ? answer.reply.status : answer.status;
  const durationMs = Math.max(0, clock.elapsed() - given.beganMs);
  const streamedAtMs = answer.kind === 'streamed' ? ctx.firstByteAtMs : null;
  return {
    ...resultShape(given),
    status,
    errorCode: error?.code ?? null,
    durationMs,
    ok: answer.kind === 'upgraded' || (answer.kind !== 'error' && status >= 200 && status < 300),
    error,
    retryAfterMs: answer.kind === 'plain' ? answer.retryAfterMs : null,
    firstByteMs: streamedAtMs === null ? durationMs : Math.max(0, streamedAtMs - given.beganMs),
  };
}

/** The result of a target that was never reached because it cannot be used. */
export function unresolved(ctx: RequestContext, target: Target, error: GatewayError): AttemptResult {
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

function resultShape({
  target,
  resolved,
}: AttemptPlan): Pick<AttemptResult, 'targetPath' | 'provider' | 'providerSlug' | 'targetIndex'> {
  return { targetPath: target.path, provider: resolved.adapter.id, providerSlug: resolved.slug, targetIndex: target.index };
}

/** The usual limits, none of them longer than `timeMs`. A reply that streams may go on: its clock stops at the first byte. */
function within(timeouts: UpstreamTimeouts, timeMs: number): UpstreamTimeouts {
  const ms = Math.max(1, Math.ceil(timeMs));
  const least = (limit: number): number => (limit === 0 ? ms : Math.min(limit, ms));
  return {
    connectMs: least(timeouts.connectMs),
    firstByteMs: least(timeouts.firstByteMs),
    idleMs: timeouts.idleMs,
    totalMs: timeouts.totalMs === 0 ? 0 : least(timeouts.totalMs),
  };
}
