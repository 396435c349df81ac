import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import { CapturedBytes, type CapturedExchange } from '../contract/plugin/record/content-capture.ts';
import type { OutgoingCall, StepReply, StepServices } from '../contract/provider/provider.ts';
import type { UpstreamSender, UpstreamTimeouts } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList, ReplySink } from '../contract/values/http/http.ts';
import { stepBytes } from '../contract/values/large-json/json-steps.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { roughTokens } from '../contract/values/models/prompt-text.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { DenialError } from './attempt/denial-error.ts';
import { incoming } from './attempt/exchange-stream.ts';
import { hidingSender } from './attempt/hide-credentials.ts';
import { isHeld, type Judge, judgeError, judgeOf } from './attempt/judge-response.ts';
import { type Outgoing, outgoingCall, signedCall } from './attempt/outgoing-call.ts';
import { withReportedError } from './attempt/plain-reply.ts';
import { addGatewayHeaders } from './attempt/reply-headers.ts';
import { ReplyStream } from './attempt/reply-stream.ts';
import { mayRetry } from './attempt/retry-wait.ts';
import { sendAttempt } from './attempt/send-attempt.ts';
import { signedInTime } from './attempt/signed-in-time.ts';
import { openSteps, replyBytesMax, type Steps, whole } from './attempt/step-services.ts';
import type { AttemptReply } from './attempt-reply.ts';
import type { Dispatcher } from './dispatch.ts';
import { targetOfModel } from './target/named-models.ts';
import { isRefusal } from './target/refusal.ts';
import type { ResolvedTarget } from './target/resolve-target.ts';
import { senderOf } from './target/sender-of.ts';

/** One attempt: its target, whether another attempt may follow, and its time limit. */
export interface AttemptPlan {
  readonly target: Target;
  readonly resolved: ResolvedTarget;
  readonly isLast: boolean;
  /** Monotonic milliseconds. */
  readonly beganMs: number;
  /** Maximum milliseconds of the attempt. Infinity: no limit beside the usual ones. */
  readonly timeMs: number;
}

/** Steps of one operation around its attempts; see `Dispatcher.stepsOf`. */
export interface AttemptSteps {
  /**
   * Runs before the call is sent. `allow` throws `model_not_allowed`; it is null if the target does not restrict its models. Returns the
   * call to send. What it throws fails the attempt.
   */
  beforeSend(
    ctx: RequestContext,
    plan: Pick<AttemptPlan, 'target' | 'resolved'>,
    outgoing: Outgoing,
    transport: StepTransport,
    allow: ((model: string) => void) | null,
  ): Maybe<Outgoing>;
  /** Runs with the provider's reply. Must not throw. */
  afterSend(ctx: RequestContext, plan: AttemptPlan, reply: AttemptReply): void;
}

/**
 * Runs one attempt: shapes the call, sends it, and follows its reply. Adds its result to `ctx.attempts` unless the client has
 * disconnected. Never throws: errors are part of the reply.
 */
export async function runAttempt(
  ctx: RequestContext,
  sink: ReplySink,
  given: AttemptPlan,
  dispatcher: Dispatcher,
): Promise<AttemptReply> {
  const { target } = given;
  const { clock } = dispatcher.services;
  const steps = ctx.endpoint?.operation ? dispatcher.stepsOf[ctx.endpoint.operation] : undefined;
  let unsigned = false;
  try {
    for (const hook of ctx.plan.onAttempt) {
      const outcome = hook(ctx, target);
      const reply = isPromise(outcome) ? await outcome : outcome;
      if (reply) return ended(ctx, given, dispatcher, 'action' in reply ? deniedReply(reply.reply) : { kind: 'replaced', reply });
    }
    const allow = given.resolved.ofModel ?? null;
    const resolved = allow ? await targetOfModel(ctx, target, given.resolved) : given.resolved;
    if (ctx.needsSteps || ctx.requestBytes > stepBytes) await ctx.memory?.turn();
    const prepared = outgoingCall(ctx, target, resolved, dispatcher.outgoing, given.timeMs);
    let outgoing = isPromise(prepared) ? await prepared : prepared;
    if (outgoing.model !== null) ctx.nameModel(outgoing.model);
    if (steps) {
      const transport = stepTransport(ctx, resolved, dispatcher);
      outgoing = await steps.beforeSend(ctx, { target, resolved }, outgoing, transport, allow);
    }
    const isStepwise = outgoing.operation?.steps !== undefined;
    if (resolved.adapter.sign && !isStepwise) {
      unsigned = true;
      const signed = signedCall(outgoing, (call) => signCall(ctx, call, resolved, dispatcher));
      if (isPromise(signed)) {
        const timeouts = await signedInTime(signed, outgoing.call.timeouts, clock, dispatcher.timers);
        outgoing = await signed;
        outgoing = { ...outgoing, call: { ...outgoing.call, timeouts } };
      } else outgoing = signed;
      unsigned = false;
    }
    // No call is sent if the client has disconnected during a hook or a token request.
    if (ctx.aborted) return clientClosed();
    const announced = announce(ctx);
    if (announced) await announced;
    if (ctx.aborted) return clientClosed();
    const judge = judgeOf(ctx, target, clock);
    const onLeft = (reply: AttemptReply): void => addResult(ctx, reply, given, dispatcher);
    if (ctx.content !== null) ctx.content.exchange = isStepwise ? null : capturedExchange(ctx, outgoing);
    ctx.times.send();
    ctx.endBodyShare();
    const received = await (isStepwise
      ? runSteps(ctx, sink, resolved, outgoing, stepTransport(ctx, resolved, dispatcher), judge)
      : sendAttempt(ctx, sink, resolved, outgoing, {
          sender: senderOf(resolved, dispatcher.transport),
          meterReply: dispatcher.meterReply,
          clock,
          judge,
          onLeft: (error) => onLeft({ kind: 'error', error }),
          isFinal: (status) => isFinal(ctx, given, status),
          allowModel: given.resolved.restrictsModels ? allow : null,
        }));
    const attemptReply = received.kind === 'error' ? withReportedError(ctx, resolved.adapter, outgoing, received) : received;
    steps?.afterSend(ctx, given, attemptReply);
    const judged = judge === null ? attemptReply : judge.whole(attemptReply, onLeft);
    const shown = judgeError(ctx, target, isPromise(judged) ? await judged : judged);
    return ended(ctx, given, dispatcher, isPromise(shown) ? await shown : shown);
  } catch (thrown) {
    // A plugin failed with the response, which the provider bills. The next attempt has a usage of its own.
    if (!ctx.aborted) ctx.discardUsage();
    const failed = thrown instanceof DenialError ? deniedReply(thrown.reply) : failedReply(thrown);
    const shown = judgeError(ctx, target, failed);
    return ended(ctx, given, dispatcher, isPromise(shown) ? await shown : shown, unsigned);
  }
}

/** Adds the result of an attempt, unless the client has disconnected. Returns the reply. */
function ended(
  ctx: RequestContext,
  given: AttemptPlan,
  dispatcher: Dispatcher,
  reply: AttemptReply,
  unsigned = false,
): AttemptReply {
  if (!ctx.aborted) addResult(ctx, reply, given, dispatcher, unsigned);
  return reply;
}

function failedReply(thrown: unknown): AttemptReply {
  return { kind: 'error', error: toGatewayError(thrown) };
}

/** Returns true if a response with this status is sent in any case: no retry and no other target is left. */
function isFinal(ctx: RequestContext, given: AttemptPlan, status: number): boolean {
  const { target, resolved, isLast } = given;
  // A streamed body cannot be sent again, so this response is final.
  if (ctx.bodyTaken) return true;
  // The credential may have changed since.
  if (resolved.renew && isRefusal(status)) return false;
  if (!isLast && target.retry?.statusCodes.includes(status)) return false;
  if (ctx.plan.movesOn(ctx, target.index, status)) return false;
  // The headers are sent before the loop of attempts gets the result.
  if (mayRetry(target.retry, { status, ok: status < 300, error: null })) ctx.retryAttemptCount = -1;
  return true;
}

/** The reply of an attempt that a plugin denied before the provider was called. */
function deniedReply({ status, headers, body }: Reply): AttemptReply {
  const error = new GatewayError('request_denied', { status });
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { kind: 'plain', status, headers: [...headers], body: bytes, json: null, error, retryAfterMs: null, call: null };
}

/** Runs the plugin hooks before the call is sent. Returns a promise if a hook is asynchronous. */
export function announce(ctx: RequestContext, at = 0): Promise<void> | undefined {
  const { onSend } = ctx.plan;
  for (let i = at; i < onSend.length; i++) {
    const done = onSend[i]?.(ctx);
    if (isPromise(done)) return done.then(() => announce(ctx, i + 1));
  }
  return undefined;
}

/** Dependencies shared by the exchanges of one operation. */
export interface StepTransport {
  readonly sender: UpstreamSender;
  /** Sends the calls to the service's own store. */
  readonly ownStore: UpstreamSender;
  readonly clock: Clock;
  /** Signs one of the calls in place, if the provider requires it, within its time limits. Returns what remains of them. */
  sign(call: OutgoingCall, timeouts: UpstreamTimeouts): Maybe<UpstreamTimeouts>;
  countTokens: StepServices['countTokens'];
}

/** Maximum milliseconds that the tokenizer may take before the length of the texts is used instead. */
const countMs = 2000;

function stepTransport(ctx: RequestContext, resolved: ResolvedTarget, dispatcher: Dispatcher): StepTransport {
  const { ownStore, services, timers } = dispatcher;
  const { clock } = services;
  const sender = hidingSender(senderOf(resolved, dispatcher.transport), resolved);
  return {
    ...{ sender, ownStore, clock },
    sign(call, timeouts) {
      const signing = signCall(ctx, call, resolved, dispatcher);
      return isPromise(signing) ? signedInTime(signing, timeouts, clock, timers) : timeouts;
    },
    countTokens: (texts) => services.countTokens(texts, countMs, ctx.identity?.workspaceId).catch(() => roughTokens(texts)),
  };
}

/**
 * Runs an operation that needs several exchanges. Each is signed and limited as a call of its own. The reply streams if possible.
 */
async function runSteps(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  given: StepTransport,
  judge: Judge | null,
): Promise<AttemptReply> {
  const { operation, operationCall } = outgoing;
  if (!operation?.steps || !operationCall) throw new GatewayError('internal', { detail: 'an operation without steps' });
  const steps = stepsOf(ctx, resolved, outgoing, given);
  try {
    const reply = await operation.steps(operationCall, steps.services);
    if (ctx.aborted) return clientClosed();
    return await sendStepReply(ctx, sink, resolved, outgoing, reply, given.clock, judge);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.reported === null) throw thrown;
    return failedReply(thrown);
  } finally {
    steps.abort();
  }
}

/** Returns the exchanges of this request. They end when the client disconnects. */
export function stepsOf(ctx: RequestContext, resolved: ResolvedTarget, outgoing: Outgoing, given: StepTransport): Steps {
  const { call, operationCall } = outgoing;
  const steps = openSteps({
    ...{ resolved, call, sender: given.sender, ownStore: given.ownStore, sign: given.sign, countTokens: given.countTokens },
    caller: operationCall?.caller ?? null,
    isLeft: () => ctx.aborted,
    body: () => incoming(ctx.takeBody(ctx.peekedBody ?? ctx.request.body), call.bodyBytesMax ?? replyBytesMax),
  });
  ctx.abortUpstream = steps.abort;
  return steps;
}

async function sendStepReply(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  reply: StepReply,
  clock: Clock,
  judge: Judge | null,
): Promise<AttemptReply> {
  const { status, contentType, body } = reply;
  const headers: HeaderList = ['content-type', contentType];
  const { operationCall } = outgoing;
  ctx.provider = resolved.adapter.id;
  if (!(Symbol.asyncIterator in body) || isHeld(ctx)) {
    const bytes =
      Symbol.asyncIterator in body ? await whole(body as AsyncIterable<Uint8Array>) : Buffer.from(JSON.stringify(body));
    return { kind: 'plain', status, headers, body: bytes, json: null, error: null, retryAfterMs: null, call: operationCall };
  }
  addGatewayHeaders(ctx, headers, status, operationCall);
  const stream = new ReplyStream(ctx, sink, clock, { status, headers }, undefined, judge?.head ?? null);
  stream.decide(() => {});
  await stream.decided;
  if (stream.failure !== null) throw stream.failure;
  if (stream.rejected) return stream.rejected;
  if (stream.replacement) return { kind: 'replaced', reply: stream.replacement };
  let drained: (() => void) | null = null;
  sink.onDrain(() => drained?.());
  sink.onAbort(() => drained?.());
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (ctx.aborted) return clientClosed();
      if (stream.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        drained = resolve;
        if (ctx.aborted) resolve();
      });
      drained = null;
    }
    stream.end('');
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : new GatewayError('upstream_invalid', { cause: thrown });
    return sink.started ? { kind: 'streamed', status, error, errorSent: false, raw: true } : { kind: 'error', error };
  }
  return { kind: 'streamed', status, error: null, errorSent: false, raw: true };
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

/** The reply of a request whose client has disconnected. */
export function clientClosed(): AttemptReply {
  return { kind: 'error', error: new GatewayError('client_closed') };
}

/** Returns the call as logs show it, with references to its bytes. Null if only the bodies of errors are stored. */
function capturedExchange(
  { content, params, bodyChanged }: RequestContext,
  { call, operationCall }: Outgoing,
): CapturedExchange | null {
  if (content === null || content.isErrorOnly) return null;
  const { origin, path, method, headers, body } = call;
  const isChanged = operationCall !== null && (operationCall.params !== params || bodyChanged);
  return {
    ...{ url: origin + path, method, headers },
    body: body === null || body instanceof Uint8Array ? body : 'not_held',
    params: isChanged ? operationCall.params : null,
    status: 0,
    response: new CapturedBytes(content.bytesMax),
  };
}

/** Adds the result of an attempt for strategies and records. */
function addResult(
  ctx: RequestContext,
  reply: AttemptReply,
  given: AttemptPlan,
  { services, logFailedCall }: Dispatcher,
  unsigned = false,
): void {
  const error = reply.kind === 'replaced' ? null : reply.error;
  const status = reply.kind === 'error' ? reply.error.status : reply.kind === 'replaced' ? reply.reply.status : reply.status;
  const durationMs = Math.max(0, services.clock.elapsed() - given.beganMs);
  const streamedAtMs = reply.kind === 'streamed' ? ctx.firstByteAtMs : null;
  const { target, resolved } = given;
  if (error !== null) logFailedCall(error, resolved, ctx.traceId, unsigned);
  const { firstByte, lastByte } = ctx.times.end();
  ctx.attempts.push({
    targetPath: target.path,
    targetIndex: target.index,
    provider: resolved.adapter.id,
    providerSlug: resolved.slug,
    status,
    errorCode: error?.code ?? null,
    startMs: Math.max(0, given.beganMs - ctx.startedAtMs),
    durationMs,
    model: ctx.model,
    upstreamFirstByteMs: firstByte,
    upstreamLastByteMs: lastByte,
    ok: reply.kind === 'upgraded' || (reply.kind !== 'error' && status >= 200 && status < 300),
    error,
    retryAfterMs: reply.kind === 'plain' ? reply.retryAfterMs : (error?.retryAfterMs ?? null),
    firstByteMs: streamedAtMs === null ? durationMs : Math.max(0, streamedAtMs - given.beganMs),
  });
}
