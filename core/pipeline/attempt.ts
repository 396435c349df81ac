import type { RequestContext } from '../contract/context.ts';
import { GatewayError, toGatewayError } from '../contract/errors.ts';
import { findHeader, type HeaderList, type ReplySink } from '../contract/http.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Clock, Reply } from '../contract/plugin.ts';
import type { Operation, OperationCall, ProviderAdapter } from '../contract/provider.ts';
import type { UpstreamExchange, UpstreamHandler, UpstreamTransport } from '../contract/upstream.ts';
import type { Usage } from '../contract/usage.ts';
import type { FrameSocket } from '../contract/web-socket.ts';
import { EventStream } from './event-stream.ts';
import { holdBytes } from './hold-bytes.ts';
import type { Outgoing } from './outgoing.ts';
import { contentLength, excerpt, isJson, isStream, parseJson } from './reply-body.ts';
import { addGatewayHeaders, passedHeaders } from './reply-headers.ts';
import { ReplyStream } from './reply-stream.ts';
import type { ResolvedTarget } from './resolve-target.ts';

/** Largest plain reply that is read before it is sent on. */
const bufferedReplyBytesMax = 64 * 1024 * 1024;
/** How much of an error reply is kept when another target may be asked. */
const keptErrorBytesMax = 1024 * 1024;

/** What one try came to. */
export type Answer =
  /** The reply is on its way. */
  | StreamedAnswer
  /** The whole reply is here, no byte has left. */
  | PlainAnswer
  /** The provider agreed to a WebSocket, which waits to be read. */
  | UpgradedAnswer
  /** A plugin answered in the provider's place. */
  | { readonly kind: 'replaced'; readonly reply: Reply }
  | { readonly kind: 'error'; readonly error: GatewayError };

export interface StreamedAnswer {
  readonly kind: 'streamed';
  readonly status: number;
  /** Why the stream ended early, if it did. */
  readonly error: GatewayError | null;
  /** True when the client has read of the error already, in an event of the provider. */
  readonly told: boolean;
  /** True when the reply is bytes, not events: an error can only be told by cutting it. */
  readonly raw: boolean;
}

export interface UpgradedAnswer {
  readonly kind: 'upgraded';
  readonly status: 101;
  readonly headers: HeaderList;
  readonly socket: FrameSocket;
  /** The subprotocol the provider chose. */
  readonly protocol: string | null;
  readonly adapter: ProviderAdapter;
  readonly error: null;
}

export interface PlainAnswer {
  readonly kind: 'plain';
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Set when the provider answered with an error status. */
  readonly error: GatewayError | null;
  readonly retryAfterMs: number | null;
  /** What was dropped or adapted on the way, on shaped routes. */
  readonly call: OperationCall | null;
}

export interface AttemptOptions {
  readonly transport: UpstreamTransport;
  readonly clock: Clock;
  /** True when a reply of this status will be sent whatever it is: no retry and no other target is left for it. */
  isFinal(status: number): boolean;
  /** The client left while this try was under way; called before anything else hears of it. */
  onLeft(): void;
}

/** Sends one call and follows its reply: streamed on, piped through, or read whole, as the route and the plan ask. */
export function attempt(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  options: AttemptOptions,
): Promise<Answer> {
  return new Promise((resolve) => {
    const run = new Attempt(ctx, sink, resolved, outgoing, options, resolve);
    run.exchange = options.transport.send(outgoing.call, run);
    // The client may have left, or the transport failed, before `send` returned.
    if (run.settled || ctx.aborted) run.exchange.abort();
    ctx.abortUpstream = run.abort;
  });
}

class Attempt implements UpstreamHandler {
  exchange: UpstreamExchange | null = null;
  settled = false;
  readonly #ctx: RequestContext;
  readonly #sink: ReplySink;
  readonly #resolved: ResolvedTarget;
  readonly #outgoing: Outgoing;
  readonly #options: AttemptOptions;
  readonly #resolve: (answer: Answer) => void;
  #status = 0;
  #headers: HeaderList = [];
  #chunks: Uint8Array[] = [];
  #size = 0;
  #stream: ReplyStream | null = null;
  #events: EventStream | null = null;
  #reader: ReturnType<NonNullable<Outgoing['operation']>['streamReader']> | null = null;
  #translated = false;

  constructor(
    ctx: RequestContext,
    sink: ReplySink,
    resolved: ResolvedTarget,
    outgoing: Outgoing,
    options: AttemptOptions,
    resolve: (answer: Answer) => void,
  ) {
    this.#ctx = ctx;
    this.#sink = sink;
    this.#resolved = resolved;
    this.#outgoing = outgoing;
    this.#options = options;
    this.#resolve = resolve;
  }

  readonly abort = (): void => {
    this.exchange?.abort();
    if (this.settled) return;
    this.#readUsage();
    this.#options.onLeft();
    this.#settle({ kind: 'error', error: new GatewayError('client_closed') });
  };

  onHead(status: number, headers: HeaderList): void {
    this.#status = status;
    this.#headers = headers;
    const ctx = this.#ctx;
    if (ctx.plan.readsReply) return;
    const ok = status >= 200 && status < 300;
    const { operation, operationCall } = this.#outgoing;
    if (operation && operationCall) {
      if (!ok) return;
      if (!operationCall.stream || !isStream(headers, operation)) {
        if (operation.passesBytes && (operation.passesJson || !isJson(headers))) this.#openBytes(headers);
        return;
      }
      const translator = operation.translateStream?.(operationCall) ?? null;
      this.#translated = translator !== null;
      this.#reader = operation.streamReader();
      this.#events = new EventStream(this.#reader, translator, operation.decodeStream?.create() ?? null);
      this.#open(passedHeaders(headers, translator ? 'text/event-stream; charset=utf-8' : null), undefined);
    } else if (ok || this.#options.isFinal(status)) this.#openBytes(headers);
  }

  onWebSocket(given: HeaderList, socket: FrameSocket, protocol: string | null): void {
    if (this.settled) return socket.terminate();
    const { adapter } = this.#resolved;
    this.#ctx.provider = adapter.id;
    this.#settle({ kind: 'upgraded', status: 101, headers: passedHeaders(given, null), socket, protocol, adapter, error: null });
  }

  onData(chunk: Uint8Array): boolean {
    const stream = this.#stream;
    if (!stream) return this.#keep(chunk);
    try {
      if (!this.#events) return stream.write(chunk);
      const text = this.#events.push(chunk);
      if (!this.#translated) return stream.write(chunk);
      return text === '' ? true : stream.write(Buffer.from(text));
    } catch (thrown) {
      this.#fail(toGatewayError(thrown));
      return true;
    }
  }

  onEnd(): void {
    if (!this.#stream) this.#endPlain();
    else if (this.#stream.decided) void this.#stream.decided.then(() => this.#endStream());
    else this.#endStream();
  }

  onError(error: GatewayError): void {
    this.#readUsage();
    if (this.#sink.started)
      this.#settle({ kind: 'streamed', status: this.#status, error, told: false, raw: this.#events === null });
    else this.#settle({ kind: 'error', error });
  }

  #open(headers: HeaderList, contentLength: number | undefined): void {
    const ctx = this.#ctx;
    ctx.provider = this.#resolved.adapter.id;
    addGatewayHeaders(ctx, headers, this.#outgoing.operationCall);
    this.#stream = new ReplyStream(ctx, this.#sink, this.#options.clock, { status: this.#status, headers }, contentLength);
    this.#sink.onDrain(() => this.exchange?.resume());
    try {
      this.#stream.decide(() => this.#decided());
    } catch (thrown) {
      this.#fail(toGatewayError(thrown));
      return;
    }
    if (this.#stream.replacement) this.#replace(this.#stream.replacement);
  }

  /** The provider's bytes as they come, framed as it framed them. */
  #openBytes(headers: HeaderList): void {
    this.#open(passedHeaders(headers, null), contentLength(headers));
  }

  /** An `onResponse` hook that took its time has spoken. */
  #decided(): void {
    const { failure, replacement } = this.#stream as ReplyStream;
    if (failure !== null) this.#fail(toGatewayError(failure));
    else if (replacement) this.#replace(replacement);
    else this.exchange?.resume();
  }

  #keep(chunk: Uint8Array): boolean {
    this.#size += chunk.length;
    const ok = this.#status < 300;
    if (this.#size > (ok ? bufferedReplyBytesMax : keptErrorBytesMax)) {
      // An error page without end is cut where we stop reading; a reply that should be JSON is not usable in part.
      if (!ok) {
        this.exchange?.abort();
        this.#endPlain();
        return true;
      }
      this.#fail(
        new GatewayError('upstream_invalid', {
          message: `The reply of ${this.#resolved.adapter.id} is larger than ${bufferedReplyBytesMax} bytes`,
        }),
      );
      return true;
    }
    try {
      holdBytes(this.#ctx, chunk.length);
    } catch (thrown) {
      this.#fail(toGatewayError(thrown));
      return true;
    }
    this.#chunks.push(chunk);
    return true;
  }

  #endStream(): void {
    const stream = this.#stream as ReplyStream;
    if (stream.failure !== null) return this.#fail(toGatewayError(stream.failure));
    if (stream.replacement) return this.#replace(stream.replacement);
    let error: GatewayError | null = null;
    let told = false;
    let owed = '';
    if (this.#events && this.#reader) {
      const text = this.#events.end();
      if (this.#translated) owed = text;
      error = this.#reader.error?.() ?? null;
      told = error !== null;
      if (!error && !this.#reader.complete()) {
        error = new GatewayError('stream_incomplete', {
          message: `${this.#resolved.adapter.id} ended the stream before it was complete`,
        });
        // What a translator would add to round the reply off would make a cut stream look whole.
        owed = '';
      }
      this.#ctx.usage = this.#reader.usage() ?? this.#usageOfCall();
      this.#ctx.streamEvents = this.#events.count;
    } else this.#ctx.usage = this.#usageOfCall();
    if (error && !this.#sink.started) return this.#settle({ kind: 'error', error });
    try {
      if (owed !== '') stream.write(Buffer.from(owed));
      stream.start();
    } catch (thrown) {
      return this.#fail(toGatewayError(thrown));
    }
    this.#settle({ kind: 'streamed', status: this.#status, error, told, raw: this.#events === null });
  }

  #endPlain(): void {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks);
    const { operation, operationCall } = this.#outgoing;
    const ok = this.#status >= 200 && this.#status < 300;
    if (!operation || !operationCall) {
      const error = ok ? null : this.#fault(parseJson(body)).error;
      return this.#plain(passedHeaders(this.#headers, null), body, error);
    }
    if (!ok) return this.#endFault(body);
    if (operationCall.stream && isStream(this.#headers, operation)) return this.#endBufferedStream(body);
    if (!isJson(this.#headers)) {
      if (operation.fromBytes) return this.#endBytes(body, operation.fromBytes, operationCall);
      if (operation.passesBytes) {
        this.#ctx.usage = this.#usageOfCall();
        return this.#plain(passedHeaders(this.#headers, null), body, null);
      }
    }
    const reply = parseJson(body);
    if (!reply) {
      const error = new GatewayError('upstream_invalid', {
        message: `Invalid response received from ${this.#resolved.adapter.id}: ${excerpt(body)}`,
      });
      return this.#settle({ kind: 'error', error });
    }
    try {
      this.#ctx.usage = operation.usage(reply, operationCall) ?? this.#usageOfCall();
      const bytes = operation.toBytes?.(reply, operationCall) ?? null;
      if (bytes) return this.#plain(passedHeaders(this.#headers, bytes.contentType), bytes.body, null);
      const shaped = operation.fromProvider ? operation.fromProvider(reply, operationCall) : reply;
      const same = shaped === reply;
      const headers = passedHeaders(this.#headers, same ? null : 'application/json');
      this.#plain(headers, same ? body : Buffer.from(JSON.stringify(shaped)), null);
    } catch (thrown) {
      this.#unusable(thrown);
    }
  }

  /** A reply that is not JSON, as the JSON of the route. */
  #endBytes(body: Uint8Array, fromBytes: NonNullable<Operation['fromBytes']>, call: OperationCall): void {
    try {
      const reply = fromBytes({ contentType: findHeader(this.#headers, 'content-type') ?? '', body }, call);
      this.#ctx.usage = this.#outgoing.operation?.usage(reply, call) ?? this.#usageOfCall();
      this.#plain(passedHeaders(this.#headers, 'application/json'), Buffer.from(JSON.stringify(reply)), null);
    } catch (thrown) {
      this.#unusable(thrown);
    }
  }

  /** The adapter could make nothing of the reply; one that knows why has said so in a GatewayError. */
  #unusable(thrown: unknown): void {
    this.#settle({ kind: 'error', error: toGatewayError(thrown, 'upstream_invalid') });
  }

  /** What the request itself says is billed, where the reply said nothing. */
  #usageOfCall(): Usage | null {
    const { operation, operationCall } = this.#outgoing;
    return operationCall ? (operation?.usageOfCall?.(operationCall) ?? null) : null;
  }

  /** A stream that a plugin wanted to read whole: translated at once instead of chunk by chunk. */
  #endBufferedStream(body: Uint8Array): void {
    const { operation, operationCall } = this.#outgoing;
    if (!operation || !operationCall) return;
    const translator = operation.translateStream?.(operationCall) ?? null;
    const reader = operation.streamReader();
    const events = new EventStream(reader, translator, operation.decodeStream?.create() ?? null);
    const text = events.push(body) + events.end();
    this.#ctx.usage = reader.usage();
    const error = reader.error?.() ?? (reader.complete() ? null : new GatewayError('stream_incomplete'));
    if (error) return this.#settle({ kind: 'error', error });
    const headers = passedHeaders(this.#headers, translator ? 'text/event-stream; charset=utf-8' : null);
    this.#plain(headers, translator ? Buffer.from(text) : body, null);
  }

  #endFault(body: Uint8Array): void {
    const parsed = parseJson(body);
    const { error, reply } = this.#fault(parsed, body);
    this.#plain(passedHeaders(this.#headers, 'application/json'), Buffer.from(JSON.stringify(reply)), error);
  }

  #plain(headers: HeaderList, body: Uint8Array, error: GatewayError | null): void {
    const { operationCall: call } = this.#outgoing;
    this.#settle({ kind: 'plain', status: this.#status, headers, body, error, retryAfterMs: error?.retryAfterMs ?? null, call });
  }

  /** The provider's error as ours, and the body a client of a shaped route reads (data-plane §10). */
  #fault(parsed: JsonObject | null, raw?: Uint8Array): { error: GatewayError; reply: JsonObject } {
    const id = this.#resolved.adapter.id;
    const fault = this.#resolved.adapter.error(this.#status, parsed, this.#headers);
    const message = parsed || !raw ? fault.message : `Invalid response received from ${id}: ${excerpt(raw)}`;
    const error = new GatewayError('upstream_status', {
      status: this.#status,
      message,
      retryAfterMs: fault.retryAfterMs ?? undefined,
    });
    const body: JsonObject = { error: { message, type: fault.type, param: fault.param, code: fault.code }, provider: id };
    return { error, reply: this.#ctx.endpoint?.format === 'messages' ? { type: 'error', ...body } : body };
  }

  #replace(reply: Reply): void {
    this.exchange?.abort();
    this.#settle({ kind: 'replaced', reply });
  }

  #fail(error: GatewayError): void {
    this.exchange?.abort();
    this.onError(error);
  }

  #readUsage(): void {
    if (this.settled) return;
    if (this.#reader) this.#ctx.usage = this.#reader.usage();
    if (this.#events) this.#ctx.streamEvents = this.#events.count;
  }

  #settle(answer: Answer): void {
    if (this.settled) return;
    this.settled = true;
    this.#resolve(answer);
  }
}
