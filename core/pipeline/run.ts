import { type Endpoint, type Outcome, RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { SessionOutcome, Sessions } from '../contract/plugin/web-socket.ts';
import type { BodyMemory } from '../contract/values/body-memory.ts';
import { GatewayError, reasonOf, toGatewayError, wasCalled } from '../contract/values/errors.ts';
import type { HeaderList, InboundRequest, ReplySink } from '../contract/values/http.ts';
import { isPromise } from '../contract/values/json.ts';
import type { Answer, StreamedAnswer } from './answer.ts';
import { addGatewayHeaders } from './attempt/reply-headers.ts';
import { adoptProtocolKeys } from './attempt/socket-call.ts';
import { streamError } from './attempt/stream-error.ts';
import { type Dispatcher, dispatch } from './dispatch.ts';
import { endRequest } from './end.ts';
import { type AdoptOptions, adoptPlan } from './plan/adopt-plan.ts';
import type { Chain } from './plan/compile-plan.ts';
import { nameSvcOption } from './plan/name-svc-options.ts';
import { readGatewayHeaders } from './request/gateway-headers.ts';
import { releaseBytes } from './request/hold-bytes.ts';
import { holdForLimits, isLimited } from './request/hold-for-limits.ts';
import { readPassed } from './request/passed-request.ts';
import { peekParams } from './request/peek-params.ts';
import { checkProviderPath } from './request/provider-path.ts';
import { type BodyLimits, readBytes, readParams } from './request/read-body.ts';
import { checkTraceId, traceIdOf } from './request/trace-id.ts';
import { addStatedDuration, estimateUsage, isEstimated } from './usage/estimate-usage.ts';
import { countRoughly } from './usage/unfinished-usage.ts';

/** An endpoint of the data plane, the control plane, a path that is kept for the service, or nothing. */
type Match = Endpoint | 'control-plane' | 'reserved' | 'not-found' | 'method-not-allowed';

/**
 * Answers an endpoint that is not one call to a provider. Returns the answer to send, or null if it has been sent or the client has left.
 * `end` is called at the end of a WebSocket session.
 */
export type EndpointHandler = (
  options: PipelineOptions,
  ctx: RequestContext,
  sink: ReplySink,
  end: (outcome: SessionOutcome) => void,
) => Promise<Answer | null>;

/** Endpoints beside the main path; see core/compose/endpoint-handlers.ts. */
export interface EndpointHandlers {
  /** Returns the handler of the request's endpoint; null for the main path. */
  handlerOf(ctx: RequestContext): EndpointHandler | null;
  /** Adds the header that explains the route of a request. */
  debugRoute(ctx: RequestContext, dispatcher: Dispatcher): Promise<void>;
}

export interface PipelineOptions extends AdoptOptions {
  readonly endpoints: EndpointHandlers;
  readonly chain: Chain;
  readonly services: CoreServices;
  readonly dispatcher: Dispatcher;
  readonly prefixes: readonly string[];
  readonly bodies: BodyLimits;
  /** The bound on bodies this process holds; absent = none. */
  readonly memory?: BodyMemory;
  /** Takes requests that become WebSocket sessions; absent = there are none. */
  readonly sessions?: Sessions;
  match(method: string, path: string): Match;
  /** Explains a method and path that no route and no provider takes; null when nothing can be said about them. */
  explainPath(method: string, path: string): GatewayError | null;
  /** Status, headers and body of an error in the format of the route. */
  errorReply(error: GatewayError, format: 'chat' | 'messages' | 'responses' | 'plain', requestId: string): Reply;
  forwardToControlPlane(request: InboundRequest, sink: ReplySink): void;
}

export type Handle = (request: InboundRequest, sink: ReplySink) => void;

/** The whole data plane behind one function: a request goes in, one reply comes out of the sink, one record is left. */
export function createHandler(options: PipelineOptions): Handle {
  return (request, sink) => {
    const match = options.match(request.method, request.path);
    if (match === 'control-plane') {
      options.forwardToControlPlane(request, sink);
      return;
    }
    if (request.webSocketProtocols) adoptProtocolKeys(request, options.prefixes[0] as string);
    const { values, prefix } = readGatewayHeaders(request.headers, options.prefixes);
    const id = options.services.newId();
    const ctx = new RequestContext({
      id,
      receivedAtMs: options.services.clock.now(),
      request,
      gatewayHeaders: values,
      headerPrefix: prefix,
      endpoint: typeof match === 'string' ? null : match,
      plan: options.plans.base,
      traceId: traceIdOf(values, request, id),
    });
    startRequest(options, ctx, sink, match);
  };
}

/** Runs a request from its first plugin to the end of its reply. */
export function startRequest(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, match: Match): void {
  ctx.startedAtMs = options.services.clock.elapsed();
  ctx.memory = options.memory ?? null;
  sink.onAbort(() => {
    ctx.aborted = true;
    ctx.abortUpstream?.();
    end(options, ctx, { kind: 'aborted', status: 499, error: new GatewayError('client_closed') });
  });
  void run(options, ctx, sink, match).catch((thrown: unknown) => refuse(options, ctx, sink, toGatewayError(thrown)));
}

async function run(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, match: Match): Promise<void> {
  if (typeof match === 'string') throw noRoute(options, ctx.request);
  checkTraceId(ctx);
  checkProviderPath(match);
  const reply = await askPlugins(options, ctx);
  if (ctx.aborted) return;
  if (ctx.gatewayHeaders.has('debug-route')) await options.endpoints.debugRoute(ctx, options.dispatcher);
  if (ctx.aborted) return;
  if (reply) return sendReply(options, ctx, sink, reply);
  const handle = options.endpoints.handlerOf(ctx);
  const answer = await (handle === null
    ? dispatch(ctx, sink, options.dispatcher)
    : handle(options, ctx, sink, ({ kind, error }) => end(options, ctx, { kind, status: 101, error })));
  if (answer !== null && !ctx.aborted) await deliver(options, ctx, sink, answer);
}

function noRoute(options: PipelineOptions, { method, path }: InboundRequest): GatewayError {
  return (
    options.explainPath(method, path) ??
    new GatewayError('not_found', { message: `Not Found: ${method} ${path.slice(0, 200)} is not a route of the gateway` })
  );
}

/** A pass-through path without a provider, or with a key that may not call models, may be a misspelt route of the service. */
function explained(options: PipelineOptions, ctx: RequestContext, error: GatewayError): GatewayError {
  const isExplained = error.code === 'missing_provider' || error.code === 'forbidden';
  if (!isExplained || ctx.endpoint?.traffic === undefined) return error;
  return options.explainPath(ctx.request.method, ctx.request.path) ?? error;
}

/** Runs `onRequest` down the list. The body is read just before the first hook that may use it. */
async function askPlugins(options: PipelineOptions, ctx: RequestContext): Promise<Reply | undefined> {
  const { beforeBody, beforePlan } = options.chain;
  for (let i = 0; ; i++) {
    if (i === beforeBody && (ctx.endpoint?.operation || ctx.endpoint?.body)) await readParams(ctx, options.bodies);
    if (i === beforePlan) {
      adoptPlan(ctx, options);
      options.plans.enter(ctx);
      if (!ctx.endpoint?.operation && ctx.body === null && mustBuffer(ctx, options.bodies.jsonBytesMax)) {
        ctx.body = await readBytes(ctx, options.bodies.jsonBytesMax);
      }
      if (ctx.plan.readsParams && !ctx.endpoint?.operation) await peekParams(ctx, options.bodies);
      readPassed(ctx);
      if (ctx.passed && isLimited(ctx)) await holdForLimits(ctx, options.bodies);
    }
    // A hook may have replaced the plan, so the list is read again each time.
    const hook = ctx.plan.onRequest[i];
    if (!hook) {
      if (ctx.requestBytes === 0) ctx.requestBytes = Math.max(0, ctx.request.body.length);
      return undefined;
    }
    const outcome = hook(ctx);
    const reply = isPromise(outcome) ? await outcome : outcome;
    if (reply || ctx.aborted) return reply ?? undefined;
  }
}

/** Pass-through bodies up to this size are cheaper kept than streamed, and can be sent a second time. */
const smallBodyBytes = 64 * 1024;

/** A pass-through body is kept when it is small, when a plugin reads it, or when it may have to be sent a second time. */
function mustBuffer(ctx: RequestContext, bytesMax: number): boolean {
  const length = ctx.request.body.length;
  if (length === 0) return false;
  if (ctx.plan.readsBody || (length > 0 && length <= smallBodyBytes)) return true;
  const [first] = ctx.plan.targets;
  // A body that is sent a second time, or looked for in the cache, has to be at hand.
  const again = ctx.plan.targets.length > 1 || (first?.retry?.attempts ?? 0) > 0 || (first?.cache ?? null) !== null;
  return again && length > 0 && length <= bytesMax;
}

async function deliver(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, answer: Answer): Promise<void> {
  switch (answer.kind) {
    case 'error':
      throw answer.error;
    case 'upgraded':
      throw new GatewayError('internal', { detail: 'a provider replied with 101 although no upgrade was requested' });
    case 'replaced':
      return sendReply(options, ctx, sink, answer.reply);
    case 'streamed':
      return endStream(options, ctx, sink, answer);
    case 'plain': {
      const head = { status: answer.status, headers: answer.headers };
      const reply = ctx.stream ? null : answer.body;
      const uncounted = answer.error === null && isUncounted(ctx);
      if (uncounted) countRoughly(ctx, reply);
      for (const hook of ctx.plan.onReply) {
        const outcome = hook(ctx, head);
        const replacement = isPromise(outcome) ? await outcome : outcome;
        if (replacement) return sendReply(options, ctx, sink, replacement);
      }
      let { body } = answer;
      for (const hook of ctx.plan.onChunk) {
        const passed = hook(ctx, body);
        body = passed ?? noBytes;
        // A dropped chunk is a body without bytes: the unfiltered one must not leave.
        if (passed === null) break;
      }
      if (uncounted) await completeUsage(options, ctx, reply);
      if (ctx.aborted) return;
      addGatewayHeaders(ctx, answer.headers, head.status, answer.call);
      complete(
        options,
        ctx,
        sink,
        { kind: answer.error ? 'failed' : 'success', status: head.status, error: answer.error },
        head.headers,
        body,
      );
    }
  }
}

/** True when there is something to count that the provider did not: nearly never. */
function isUncounted(ctx: RequestContext): boolean {
  return (ctx.usage === null && isEstimated(ctx)) || ctx.gatewayHeaders.has('audio-file-duration');
}

/** Counts what the provider did not: tokens of a reply that is made of them, and the length of audio as the client states it. */
async function completeUsage(options: PipelineOptions, ctx: RequestContext, reply: Uint8Array | null): Promise<void> {
  if ((ctx.usage === null || ctx.usage.estimated) && isEstimated(ctx)) {
    ctx.usage = (await estimateUsage(ctx, options.services, reply)) ?? ctx.usage;
  }
  const stated = ctx.gatewayHeaders.get('audio-file-duration');
  if (stated !== undefined) addStatedDuration(ctx, stated);
}

async function endStream(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, answer: StreamedAnswer): Promise<void> {
  if (!answer.error) {
    if (isUncounted(ctx)) {
      countRoughly(ctx, null);
      await completeUsage(options, ctx, null);
    }
    end(options, ctx, { kind: answer.status < 400 ? 'success' : 'failed', status: answer.status, error: null });
    return options.services.journal.whenSafe(() => sink.end());
  }
  const format = ctx.endpoint?.format ?? 'plain';
  end(options, ctx, { kind: 'cut', status: answer.status, error: answer.error });
  if (format === 'plain' || answer.raw) return sink.destroy();
  if (!answer.errorSent) sink.write(Buffer.from(streamError(answer.error, format, ctx.streamEvents)));
  options.services.journal.whenSafe(() => sink.end());
}

function sendReply(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, reply: Reply): void {
  const headers = [...reply.headers];
  addGatewayHeaders(ctx, headers, reply.status, null);
  complete(
    options,
    ctx,
    sink,
    { kind: reply.status < 400 ? 'success' : 'refused', status: reply.status, error: null },
    headers,
    reply.body,
  );
}

/** The exit of everything that went wrong before the first byte. */
function refuse(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, thrown: GatewayError): void {
  const error = ctx.svcOptions === null ? explained(options, ctx, thrown) : nameSvcOption(thrown, ctx.svcOptions);
  if (ctx.aborted || ctx.ended) {
    if (!sink.finished) sink.destroy();
    return;
  }
  if (error.code === 'internal')
    options.services.log.error(
      { requestId: ctx.id, reason: error.detail, cause: stackOf(error.cause) },
      'internal error while processing a request',
    );
  void askOnError(ctx, error)
    .catch((thrown: unknown) => {
      options.services.log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'onError of a plugin failed');
      return undefined;
    })
    .then((replacement) => {
      if (sink.started) {
        end(options, ctx, { kind: 'cut', status: error.status, error });
        return sink.destroy();
      }
      if (replacement) return sendReply(options, ctx, sink, replacement);
      const reply = options.errorReply(error, ctx.endpoint?.format ?? 'plain', ctx.traceId);
      const headers = [...reply.headers];
      addGatewayHeaders(ctx, headers, reply.status, null);
      complete(
        options,
        ctx,
        sink,
        { kind: ctx.attempts.some(wasCalled) ? 'failed' : 'refused', status: reply.status, error },
        headers,
        reply.body,
      );
    })
    .catch((thrown: unknown) => {
      options.services.log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'the reply of a plugin is invalid');
      end(options, ctx, { kind: 'cut', status: error.status, error });
      sink.destroy();
    });
}

async function askOnError(ctx: RequestContext, error: GatewayError): Promise<Reply | undefined> {
  for (const hook of ctx.plan.onError) {
    const outcome = hook(ctx, error);
    const reply = isPromise(outcome) ? await outcome : outcome;
    if (reply) return reply;
  }
  return undefined;
}

function complete(
  options: PipelineOptions,
  ctx: RequestContext,
  sink: ReplySink,
  outcome: Outcome,
  headers: HeaderList,
  body: Uint8Array | string,
): void {
  ctx.replyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  ctx.firstByteAtMs = options.services.clock.elapsed();
  // The record is safe before the last byte leaves: a client that has its answer has been counted.
  end(options, ctx, outcome);
  options.services.journal.whenSafe(() => {
    try {
      sink.send(outcome.status, headers, body);
    } catch (thrown) {
      // Nothing above this callback catches: an uncaught exception would end the process and every other request with it.
      options.services.log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'a reply is invalid');
      sink.destroy();
    }
  });
}

const noBytes = new Uint8Array(0);

function end(options: PipelineOptions, ctx: RequestContext, outcome: Outcome): void {
  releaseBytes(ctx);
  endRequest(ctx, outcome, options.plans, options.services.log);
}

function stackOf(cause: unknown): string | null {
  return cause instanceof Error ? (cause.stack ?? cause.message) : null;
}
