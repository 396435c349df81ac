import type { RequestContext } from '../contract/context.ts';
import { GatewayError } from '../contract/errors.ts';
import type { HeaderList, ReplySink } from '../contract/http.ts';
import type { JsonObject } from '../contract/json.ts';
import { callerHeaderList, ownStoreOrigin } from '../contract/own-store.ts';
import type { OutgoingCall, StepReply, StepRequest, StepResponse, StepServices } from '../contract/provider.ts';
import type { UpstreamCall } from '../contract/upstream.ts';
import type { Answer } from './attempt.ts';
import { bodyOf, exchangeStream, incoming } from './exchange-stream.ts';
import type { Outgoing } from './outgoing.ts';
import { takenOnce } from './outgoing-body.ts';
import { excerpt, parseJson } from './reply-body.ts';
import { addGatewayHeaders } from './reply-headers.ts';
import { ReplyStream } from './reply-stream.ts';
import type { ResolvedTarget } from './resolve-target.ts';
import type { StepTransport } from './try-target.ts';

const replyBytesMax = 64 * 1024 * 1024;

/** An operation that takes several exchanges: each is signed and limited as a call of its own, the answer streams where it may. */
export async function runSteps(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  given: StepTransport,
): Promise<Answer> {
  const { operation, operationCall, call } = outgoing;
  if (!operation?.steps || !operationCall) throw new GatewayError('internal', { detail: 'an operation without steps' });
  const running = new Set<() => void>();
  ctx.abortUpstream = () => {
    for (const abort of running) abort();
  };
  try {
    const reply = await operation.steps(operationCall, services());
    if (ctx.aborted) return { kind: 'error', error: new GatewayError('client_closed') };
    return await answer(ctx, sink, resolved, outgoing, reply, given);
  } finally {
    for (const abort of running) abort();
  }

  function services(): StepServices {
    return {
      send,
      ownFile,
      fault: async (response) => faultOf(resolved, response),
      get body() {
        return incoming(takenOnce(ctx, ctx.request.body), call.bodyBytesMax ?? replyBytesMax);
      },
    };
  }

  async function* ownFile(id: string): AsyncGenerator<Uint8Array> {
    const path = `/internal/v1/store/files/${id}/content`;
    const headers = callerHeaderList(operationCall?.caller);
    const exchange = exchangeStream(given.transport, {
      ...call,
      origin: ownStoreOrigin,
      path,
      method: 'GET',
      headers,
      body: null,
    });
    running.add(exchange.abort);
    const { status } = await exchange.head;
    if (status !== 200)
      throw new GatewayError('not_found', { message: `No such file: ${id.slice(0, 80)}`, param: 'input_file_id' });
    yield* exchange.body;
  }

  async function send(request: StepRequest): Promise<StepResponse> {
    if (ctx.aborted) throw new GatewayError('client_closed');
    const headers: HeaderList = [...(request.headers ?? [])];
    for (let i = 0; i < resolved.headers.length && !request.withoutCredential; i += 2) {
      if (!headers.includes(resolved.headers[i] as string))
        headers.push(resolved.headers[i] as string, resolved.headers[i + 1] as string);
    }
    const fixed = request.body instanceof Uint8Array ? request.body : null;
    const signed: OutgoingCall = {
      method: request.method,
      origin: request.origin ?? resolved.origin,
      path: request.origin === undefined ? resolved.basePath + request.path : request.path,
      headers,
      body: fixed,
    };
    if (!request.withoutCredential) await given.sign(signed);
    const upstream: UpstreamCall = {
      ...call,
      ...signed,
      body: fixed ?? (request.body ? bodyOf(request.body as AsyncIterable<Uint8Array>, request.bodyBytes ?? -1) : null),
    };
    const exchange = exchangeStream(given.transport, upstream);
    running.add(exchange.abort);
    const head = await exchange.head;
    return {
      ...head,
      body: exchange.body,
      json: () => jsonOf(resolved, exchange.body),
      cancel: exchange.abort,
    };
  }
}

async function answer(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  reply: StepReply,
  given: StepTransport,
): Promise<Answer> {
  const { status, contentType, body } = reply;
  const headers: HeaderList = ['content-type', contentType];
  const { operationCall } = outgoing;
  ctx.provider = resolved.adapter.id;
  if (!(Symbol.asyncIterator in body) || ctx.plan.readsReply) {
    const bytes =
      Symbol.asyncIterator in body ? await whole(body as AsyncIterable<Uint8Array>) : Buffer.from(JSON.stringify(body));
    return { kind: 'plain', status, headers, body: bytes, error: null, retryAfterMs: null, call: operationCall };
  }
  addGatewayHeaders(ctx, headers, operationCall);
  const stream = new ReplyStream(ctx, sink, given.clock, { status, headers }, undefined);
  stream.decide(() => {});
  await stream.decided;
  if (stream.failure !== null) throw stream.failure;
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
    stream.start();
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : new GatewayError('upstream_invalid', { cause: thrown });
    return sink.started ? { kind: 'streamed', status, error, told: false, raw: true } : { kind: 'error', error };
  }
  return { kind: 'streamed', status, error: null, told: false, raw: true };
}

async function whole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > replyBytesMax)
      throw new GatewayError('upstream_invalid', { message: `The reply is larger than ${replyBytesMax} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function jsonOf(resolved: ResolvedTarget, body: AsyncIterable<Uint8Array>): Promise<JsonObject> {
  const bytes = await whole(body);
  if (bytes.length === 0) return {};
  const parsed = parseJson(bytes);
  if (parsed) return parsed;
  throw new GatewayError('upstream_invalid', {
    message: `Invalid response received from ${resolved.adapter.id}: ${excerpt(bytes)}`,
  });
}

async function faultOf(resolved: ResolvedTarget, response: StepResponse): Promise<GatewayError> {
  const bytes = await whole(response.body);
  const parsed = parseJson(bytes);
  const fault = resolved.adapter.error(response.status, parsed, response.headers);
  return new GatewayError('upstream_status', {
    status: response.status,
    message: parsed ? fault.message : `${resolved.adapter.id} answered ${response.status}: ${excerpt(bytes)}`,
    retryAfterMs: fault.retryAfterMs ?? undefined,
  });
}
