import type { RequestContext } from '../../contract/plugin/context.ts';
import type { StepReply } from '../../contract/provider/provider.ts';
import type { Clock } from '../../contract/values/clock.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { HeaderList, ReplySink } from '../../contract/values/http.ts';
import type { AttemptReply } from '../attempt-reply.ts';
import type { StepTransport } from '../run-attempt.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { incoming } from './exchange-stream.ts';
import { isHeld, type Judge } from './judge-response.ts';
import type { Outgoing } from './outgoing-call.ts';
import { addGatewayHeaders } from './reply-headers.ts';
import { ReplyStream } from './reply-stream.ts';
import { openSteps, replyBytesMax, type Steps, whole } from './step-services.ts';

/**
 * Runs an operation that needs several exchanges. Each is signed and limited as a call of its own. The reply streams if possible.
 */
export async function runSteps(
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
    if (ctx.aborted) return { kind: 'error', error: new GatewayError('client_closed') };
    return await sendReply(ctx, sink, resolved, outgoing, reply, given.clock, judge);
  } finally {
    steps.abort();
  }
}

/** Returns the exchanges of this request. They end when the client disconnects. */
export function stepsOf(ctx: RequestContext, resolved: ResolvedTarget, outgoing: Outgoing, given: StepTransport): Steps {
  const { call, operationCall } = outgoing;
  const steps = openSteps({
    ...{ resolved, call, sender: given.sender, ownStore: given.ownStore, sign: given.sign },
    caller: operationCall?.caller ?? null,
    isLeft: () => ctx.aborted,
    body: () => incoming(ctx.takeBody(ctx.request.body), call.bodyBytesMax ?? replyBytesMax),
  });
  ctx.abortUpstream = steps.abort;
  return steps;
}

async function sendReply(
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
      if (ctx.aborted) return { kind: 'error', error: new GatewayError('client_closed') };
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
