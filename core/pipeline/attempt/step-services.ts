import { callerHeaderList, ownStoreOrigin } from '../../contract/provider/own-store.ts';
import type { Caller, OutgoingCall, StepRequest, StepResponse, StepServices } from '../../contract/provider/provider.ts';
import type { UpstreamCall, UpstreamSender } from '../../contract/provider/upstream.ts';
import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import type { StepTransport } from '../run-attempt.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { bodyOf, exchangeStream } from './exchange-stream.ts';
import { excerpt, parseErrorBody } from './reply-body.ts';

export const replyBytesMax = 64 * 1024 * 1024;

/** Options shared by all exchanges of one operation. */
export interface StepOptions extends Pick<StepTransport, 'sender' | 'sign' | 'countTokens'> {
  /** Sends the calls to the service's own store; null: no stored file may be read. */
  readonly ownStore: UpstreamSender | null;
  readonly resolved: ResolvedTarget;
  /** Tenant, limits and time limits of each exchange. */
  readonly call: UpstreamCall;
  /** The owner of the stored files that may be read; null: no stored file may be read. */
  readonly caller: Caller | null;
  /** Returns true once the client has disconnected. */
  isLeft(): boolean;
  /** The source of `StepServices.body`. */
  body(): AsyncIterable<Uint8Array>;
}

export interface Steps {
  readonly services: StepServices;
  /** Ends the running exchanges. Safe to call twice. */
  abort(): void;
}

/**
 * Returns the services for several exchanges with one provider over the one connector. Each has the provider's own credential and
 * signature.
 */
export function openSteps(given: StepOptions): Steps {
  const { resolved, call } = given;
  const running = new Set<() => void>();
  const services: StepServices = {
    send,
    ownFile,
    countTokens: given.countTokens,
    error: async (response) => errorOf(resolved, response),
    get body() {
      return given.body();
    },
  };
  return {
    services,
    abort() {
      for (const abort of running) abort();
    },
  };

  async function* ownFile(id: string): AsyncGenerator<Uint8Array> {
    const path = `/internal/v1/store/files/${id}/content`;
    const headers = callerHeaderList(given.caller);
    if (given.ownStore === null) throw noSuchFile(id);
    const exchange = exchangeStream(given.ownStore, {
      ...call,
      origin: ownStoreOrigin,
      path,
      method: 'GET',
      headers,
      body: null,
    });
    running.add(exchange.abort);
    const { status } = await exchange.head;
    // An unavailable store does not mean that the file is missing.
    if (status >= 500) throw new GatewayError('unavailable', { retryAfterMs: 1000 });
    if (status !== 200) throw noSuchFile(id);
    yield* exchange.body;
  }

  async function send(request: StepRequest): Promise<StepResponse> {
    if (given.isLeft()) throw new GatewayError('client_closed');
    const headers: HeaderList = [...(request.headers ?? [])];
    const isElsewhere = request.origin !== undefined && request.origin !== resolved.origin;
    const own = (isElsewhere ? resolved.headersElsewhere : null) ?? resolved.headers;
    for (let i = 0; i < own.length && !request.withoutCredential; i += 2) {
      if (findHeader(headers, own[i] as string) === undefined) headers.push(own[i] as string, own[i + 1] as string);
    }
    const fixed = request.body instanceof Uint8Array ? request.body : null;
    const signed: OutgoingCall = {
      method: request.method,
      origin: request.origin ?? resolved.origin,
      path: request.origin === undefined ? resolved.basePath + request.path : request.path,
      headers,
      body: fixed,
    };
    const timeouts = request.withoutCredential ? call.timeouts : await given.sign(signed, call.timeouts);
    if (given.isLeft()) throw new GatewayError('client_closed');
    const upstream: UpstreamCall = {
      ...call,
      ...{ ...signed, timeouts },
      body: fixed ?? (request.body ? bodyOf(request.body as AsyncIterable<Uint8Array>, request.bodyBytes ?? -1) : null),
    };
    const exchange = exchangeStream(given.sender, upstream);
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

function noSuchFile(id: string): GatewayError {
  return new GatewayError('not_found', { message: `No such file: ${id.slice(0, 80)}`, param: 'input_file_id' });
}

/** Reads a whole body of at most 64 MiB. */
export async function whole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks = new ChunkList();
  for await (const chunk of body) {
    chunks.push(chunk);
    if (chunks.bytes > replyBytesMax)
      throw new GatewayError('upstream_invalid', { message: `The reply is larger than ${replyBytesMax} bytes` });
  }
  return chunks.concat();
}

async function jsonOf(resolved: ResolvedTarget, body: AsyncIterable<Uint8Array>): Promise<JsonObject> {
  const bytes = await whole(body);
  if (bytes.length === 0) return {};
  const text = textOf(bytes);
  const parsed = hasTooManyValues(text) ? null : parseObject(text);
  if (parsed) return parsed;
  throw new GatewayError('upstream_invalid', {
    message: `Invalid response received from ${resolved.adapter.id}: ${excerpt(bytes)}`,
  });
}

async function errorOf(resolved: ResolvedTarget, response: StepResponse): Promise<GatewayError> {
  const bytes = await whole(response.body);
  const parsed = parseErrorBody(bytes);
  const error = resolved.adapter.error(response.status, parsed, response.headers);
  return new GatewayError('upstream_status', {
    status: response.status,
    message: parsed ? error.message : `${resolved.adapter.id} replied with status ${response.status}: ${excerpt(bytes)}`,
    retryAfterMs: error.retryAfterMs ?? undefined,
    ...(parsed === null ? {} : { reported: parsed }),
  });
}
