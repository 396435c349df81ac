import type { Outcome, RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import { withClientPrefix } from '../contract/protocol/header-names.ts';
import { GatewayError, reasonOf, wasCalled } from '../contract/values/errors/errors.ts';
import { failureOf, stackOf } from '../contract/values/errors/stack-of.ts';
import type { HeaderList, ReplySink } from '../contract/values/http/http.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { addGatewayHeaders } from './attempt/reply-headers.ts';
import { streamError } from './attempt/stream-error.ts';
import type { AttemptReply, StreamedReply } from './attempt-reply.ts';
import { errorFormatOf } from './error-format.ts';
import { nameSvcOption } from './plan/name-svc-options.ts';
import type { PipelineOptions } from './run.ts';
import { countUsage } from './usage/estimate-usage.ts';

/** Sends the reply of a provider or of a handler, and ends the request. Throws if the attempt failed. */
export async function deliver(
  options: PipelineOptions,
  ctx: RequestContext,
  sink: ReplySink,
  attemptReply: AttemptReply,
): Promise<void> {
  switch (attemptReply.kind) {
    case 'error':
      throw attemptReply.error;
    case 'upgraded':
      throw new GatewayError('internal', { detail: 'a provider replied with 101 although no upgrade was requested' });
    case 'replaced':
      return sendReply(options, ctx, sink, attemptReply.reply);
    case 'streamed':
      return endStream(options, ctx, sink, attemptReply);
    case 'plain': {
      const head = { status: attemptReply.status, headers: attemptReply.headers };
      const reply = ctx.stream ? null : attemptReply.body;
      const finishCount = attemptReply.error === null ? countUsage(ctx, options.services, reply) : null;
      for (const hook of ctx.plan.onReply) {
        const outcome = hook(ctx, head);
        const replacement = isPromise(outcome) ? await outcome : outcome;
        if (replacement) return sendReply(options, ctx, sink, replacement);
      }
      let { body } = attemptReply;
      for (const hook of ctx.plan.onChunk) {
        const passed = hook(ctx, body);
        body = passed ?? noBytes;
        // A dropped chunk is a body without bytes: the unfiltered one must not leave.
        if (passed === null) break;
      }
      if (finishCount) await finishCount();
      if (ctx.aborted) return;
      addGatewayHeaders(ctx, attemptReply.headers, head.status, attemptReply.call);
      complete(
        options,
        ctx,
        sink,
        { kind: attemptReply.error ? 'failed' : 'success', status: head.status, error: attemptReply.error },
        head.headers,
        body,
      );
    }
  }
}

async function endStream(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, reply: StreamedReply): Promise<void> {
  if (!reply.error) {
    const finishCount = countUsage(ctx, options.services, null);
    if (finishCount) await finishCount();
    const outcome: Outcome = { kind: reply.status < 400 ? 'success' : 'failed', status: reply.status, error: null };
    if (!ctx.ended && ctx.plan.onStreamEnd.length > 0) await sendLastEvents(options, ctx, sink, outcome);
    if (ctx.ended) return;
    return finish(options, ctx, outcome, () => sink.end());
  }
  logInternal(options, ctx, reply.error);
  const format = ctx.endpoint?.format ?? 'plain';
  const outcome: Outcome = { kind: 'cut', status: reply.status, error: reply.error };
  const isCut = format === 'plain' || reply.raw;
  if (isCut && !(reply.raw && reply.errorSent)) {
    end(options, ctx, outcome);
    return sink.destroy();
  }
  if (!reply.errorSent) sink.write(Buffer.from(streamError(reply.error, format, reply.sentEvents)));
  finish(options, ctx, outcome, () => sink.end());
}

/**
 * Sends the events of plugins after the last one of the provider. A request whose client leaves meanwhile, as some clients do behind `[DONE]`, or
 * whose process stops, is complete.
 */
async function sendLastEvents(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, outcome: Outcome): Promise<void> {
  ctx.abortUpstream = () => end(options, ctx, outcome);
  ctx.endStream = () => {
    end(options, ctx, outcome);
    options.services.journal.whenSafe(() => sink.end());
  };
  for (const hook of ctx.plan.onStreamEnd) {
    const given = hook(ctx);
    const last = isPromise(given) ? await given : given;
    if (ctx.ended) return;
    if (last !== '') sink.write(Buffer.from(last));
  }
}

function sendReply(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, given: Reply): void {
  let reply = given;
  for (const hook of ctx.plan.onOwnReply) reply = hook(ctx, reply) ?? reply;
  const headers = [...reply.headers];
  addGatewayHeaders(ctx, headers, reply.status, null);
  complete(options, ctx, sink, { kind: kindOf(ctx, reply), status: reply.status, error: null }, headers, reply.body);
}

function kindOf(ctx: RequestContext, { status, isDenial }: Reply): Outcome['kind'] {
  if (status < 400 && isDenial !== true) return 'success';
  // A plugin may also have replied before the provider of its target was called.
  const isFailure = isDenial === true || ctx.usage !== null || ctx.discarded !== null;
  return isFailure && ctx.attempts.some(wasCalled) ? 'failed' : 'refused';
}

/** The exit of everything that went wrong before the first byte. */
export function refuse(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, thrown: GatewayError): void {
  const named = ctx.svcOptions === null ? explained(options, ctx, thrown) : nameSvcOption(thrown, ctx.svcOptions);
  const error = withClientPrefix(named, ctx.headerPrefix);
  if (ctx.aborted || ctx.ended) {
    if (!sink.finished) sink.destroy();
    return;
  }
  logInternal(options, ctx, error);
  void askOnError(ctx, error)
    .catch((thrown: unknown) => {
      options.services.log.error({ requestId: ctx.id, ...failureOf(thrown) }, 'onError of a plugin failed');
      return undefined;
    })
    .then((replacement) => {
      if (sink.started) {
        end(options, ctx, { kind: 'cut', status: error.status, error });
        return sink.destroy();
      }
      if (replacement) return sendReply(options, ctx, sink, replacement);
      const reply =
        options.endpoints.errorReply(ctx, error) ??
        options.errorReply(error, errorFormatOf(ctx.endpoint, ctx.request), ctx.traceId);
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

/** Replies do not show the reason of an internal error. */
function logInternal({ services }: PipelineOptions, ctx: RequestContext, { code, detail, cause }: GatewayError): void {
  if (code !== 'internal') return;
  services.log.error({ requestId: ctx.id, reason: detail, stack: stackOf(cause) }, 'internal error while processing a request');
}

/** A pass-through path without a provider, or with a key that may not call models, may be a misspelt route of the service. */
function explained(options: PipelineOptions, ctx: RequestContext, error: GatewayError): GatewayError {
  const isExplained = error.code === 'missing_provider' || error.code === 'forbidden';
  if (!isExplained || ctx.endpoint?.traffic === undefined) return error;
  // Sessions begin with GET on any path, so the method is right.
  if (ctx.request.webSocketProtocols) return error;
  return options.explainPath(ctx.request.method, ctx.request.path) ?? error;
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
  if (ctx.content !== null) ctx.content.whole(headers, body);
  finish(options, ctx, outcome, () => {
    try {
      sink.send(outcome.status, headers, body);
    } catch (thrown) {
      // Nothing above this callback catches: an uncaught exception would end the process and every other request with it.
      options.services.log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'a reply is invalid');
      sink.destroy();
    }
  });
}

/**
 * Ends the request and its reply. A request is recorded before the last byte leaves, so that a client that has its whole reply has been counted.
 * Only a call without limits does not wait for its record: if this process is killed, its hold becomes the record.
 */
function finish(options: PipelineOptions, ctx: RequestContext, outcome: Outcome, finishReply: () => void): void {
  const { journal } = options.services;
  if (ctx.reservations === null && journal.isHeld(ctx.id)) {
    if (finishing.length === 0) setImmediate(finishTurn);
    finishing.push({ finishReply, endRequest: () => end(options, ctx, outcome) });
    return;
  }
  end(options, ctx, outcome);
  journal.whenSafe(finishReply);
}

/**
 * Replies that end in this turn of the event loop. Sent together at its end, they let clients send their next requests together, which then
 * share writes. Sent one by one they cost 40 % more CPU time at 64 connections.
 */
let finishing: { readonly finishReply: () => void; readonly endRequest: () => void }[] = [];

function finishTurn(): void {
  const all = finishing;
  finishing = [];
  for (const { finishReply } of all) finishReply();
  for (const { endRequest } of all) endRequest();
}

const noBytes = new Uint8Array(0);

/**
 * The last step of every request: `onEnd` of every plugin that has one, exactly once, whatever happened. A hook that throws is
 * logged and the others still run. Safe to call again: the first outcome counts.
 */
export function end({ plans, services }: PipelineOptions, ctx: RequestContext, outcome: Outcome): void {
  ctx.releaseBytes();
  if (ctx.ended) return;
  ctx.ended = true;
  // Failed requests cost nothing. A response that came before the failure reaches no client, but its provider bills it.
  if (outcome.kind === 'failed' && ctx.provider !== null && ctx.attempts.some(wasCalled)) ctx.discardUsage();
  ctx.addDiscardedUsage();
  for (const hook of ctx.plan.onEnd) {
    try {
      hook(ctx, outcome);
    } catch (thrown) {
      services.log.error({ requestId: ctx.id, ...failureOf(thrown) }, 'onEnd of a plugin failed');
    }
  }
  if (ctx.planEntered) plans.leave(ctx.plan);
}
