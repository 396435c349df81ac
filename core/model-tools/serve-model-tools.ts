import type { TaskRunner } from '../contract/plugin/services/worker-tasks.ts';
import type { OperationName } from '../contract/provider/provider.ts';
import type { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { typedEvent } from '../contract/values/text/event-text.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import { streamError } from '../pipeline/attempt/stream-error.ts';
import { type InnerReply, InnerSink, type InnerStream, innerRequest } from '../pipeline/inner-request.ts';
import { decodedRequest } from '../pipeline/request/decoded-body.ts';
import { JsonLimits } from '../pipeline/request/json-limits.ts';
import type { BodyLimits } from '../pipeline/request/read-body.ts';
import type { Handle, PipelineOptions } from '../pipeline/run.ts';
import { createValueCheck } from './check-values.ts';
import { asksForServers, clientHeaders } from './client-headers.ts';
import { messagesFormat } from './messages-format.ts';
import { modelEvents } from './model-events.ts';
import { responsesFormat } from './responses-format.ts';
import { type RoundLimits, runRounds } from './run-rounds.ts';
import type { ToolFormat } from './tool-format.ts';

export interface ModelToolParts {
  /** The path of ordinary requests. */
  readonly handle: Handle;
  readonly match: PipelineOptions['match'];
  readonly limits: RoundLimits & { readonly timeoutMs: number };
  readonly prefixes: readonly string[];
  readonly bodies: Pick<BodyLimits, 'jsonBytesMax' | 'jsonValuesMax'>;
  readonly memory?: BodyMemory | undefined;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly tasks: TaskRunner;
  readonly errorReply: PipelineOptions['errorReply'];
}

/** Bodies that are held before the caller is known. */
const noOwner = '';

const formats: { readonly [Name in OperationName]?: ToolFormat } = {
  createModelResponse: responsesFormat,
  messages: messagesFormat,
};

/**
 * Returns a handler that serves model requests with tools of MCP servers: it calls the model and the tools with ordinary requests of the
 * same client, each with its own checks, limits and record, and with one trace id. All other requests pass unchanged.
 */
export function withModelTools(parts: ModelToolParts): Handle {
  return (request, sink) => {
    const format = asksForServers(request, parts.prefixes) ? formatOf(parts.match(request.method, request.path)) : undefined;
    if (format === undefined) parts.handle(request, sink);
    else void new ToolRequest(parts, format, decodedRequest(request), sink).serve();
  };
}

/** Returns the format of an endpoint that calls a model; undefined for all other endpoints. */
function formatOf(match: ReturnType<PipelineOptions['match']>): ToolFormat | undefined {
  return typeof match === 'object' && match.operation !== null ? formats[match.operation] : undefined;
}

/** One request with tools of MCP servers. */
class ToolRequest {
  readonly #parts: ModelToolParts;
  readonly #format: ToolFormat;
  readonly #request: InboundRequest;
  readonly #sink: ReplySink;
  readonly #id: string;
  readonly #headers: HeaderList;
  /** The workspace of the caller; null until one of the requests has found it. */
  #owner: string | null = null;
  /** Requests without a complete reply. */
  readonly #running = new Set<InnerSink>();
  #heldBytes = 0;
  #events = 0;
  /** Set when the time is over, or the process ends. */
  #late: GatewayError | null = null;
  /** False if the client receives more slowly than the model sends. */
  #canWrite = true;
  #hasError = false;

  constructor(parts: ModelToolParts, format: ToolFormat, request: InboundRequest, sink: ReplySink) {
    this.#parts = parts;
    this.#format = format;
    this.#request = request;
    this.#sink = sink;
    this.#id = parts.newId();
    this.#headers = clientHeaders(request, parts.prefixes, this.#id);
  }

  /** Sends one reply; none to a client that has disconnected. */
  async serve(): Promise<void> {
    const { limits, timers, memory } = this.#parts;
    const endEarly = (error: GatewayError): void => {
      this.#late = error;
      this.#leave(error);
    };
    const stopTimer = timers.after(limits.timeoutMs, () => endEarly(lateError(limits.timeoutMs)));
    this.#sink.onAbort(() => this.#leave());
    this.#sink.onShutdown?.(endEarly);
    try {
      await this.#serveBody(await this.#readBody());
    } catch (thrown) {
      this.#refuse(this.#late ?? toGatewayError(thrown));
    } finally {
      stopTimer();
      memory?.give(this.#heldBytes, noOwner);
    }
  }

  async #serveBody(bytes: Uint8Array): Promise<void> {
    const { path, headers, query } = this.#request;
    const body = parseObject(Buffer.from(bytes).toString('utf8'));
    const servers = body === null ? [] : this.#format.serversOf(body);
    if (body === null || servers.length === 0) {
      this.#parts.handle({ ...innerRequest(this.#request, path, headers, bytes), query }, this.#sink);
      return;
    }
    const accept = this.#request.header('accept');
    const own = ['content-type', 'application/json', ...(accept === undefined ? [] : ['accept', accept])];
    this.#sink.onDrain(() => {
      for (const inner of this.#running) inner.drained();
    });
    const round = {
      limits: this.#parts.limits,
      check: createValueCheck(this.#parts.tasks, () => this.#owner ?? undefined),
      send: (to: string, sent: HeaderList, message: Uint8Array) => this.#send(to, sent, message, null),
      callModel: (model: JsonObject, onEvent: ((event: JsonObject) => void) | null) =>
        this.#send(path, own, Buffer.from(JSON.stringify(model)), onEvent),
      write: (events: readonly JsonObject[]) => this.#write(events),
    };
    const ended = await runRounds(round, this.#format, body, servers);
    if (ended.kind === 'streamed') this.#sink.end();
    else this.#reply(ended.reply);
  }

  /** Reads the body and counts it against BODY_MEMORY_MAX. The ordinary path checks it again. */
  #readBody(): Promise<Uint8Array> {
    const { jsonBytesMax, jsonValuesMax } = this.#parts.bodies;
    const counted = new JsonLimits(jsonValuesMax);
    return this.#request.body.bytes(
      jsonBytesMax,
      (bytes) => this.#hold(bytes),
      (chunk) => counted.push(chunk),
    );
  }

  /** Sends a request of the client on the ordinary path. A successful stream goes to `onEvent`. */
  #send(path: string, headers: HeaderList, body: Uint8Array, onEvent: ((event: JsonObject) => void) | null): Promise<InnerReply> {
    return new Promise((resolve, reject) => {
      if (this.#sink.aborted || this.#late !== null) throw new GatewayError('client_closed');
      const inner = new InnerSink({
        onGrow: (bytes) => this.#hold(bytes),
        countFor: (owner) => this.#countFor(owner),
        done: (reply) => {
          this.#running.delete(inner);
          if (reply.status !== 0) resolve(reply);
          else reject(new GatewayError('upstream_invalid', { message: 'The reply of the model or of a tool was cut' }));
        },
        ...(onEvent === null ? {} : { stream: this.#stream(onEvent) }),
      });
      this.#running.add(inner);
      this.#parts.handle(innerRequest(this.#request, path, [...this.#headers, ...headers], body), inner);
    });
  }

  #stream(onEvent: (event: JsonObject) => void): InnerStream {
    const take = modelEvents(onEvent);
    return {
      start: (status, headers) => {
        if (!this.#sink.started) this.#sink.start(status, replyHeaders(headers));
      },
      write: (chunk) => {
        this.#canWrite = true;
        take(chunk);
        return this.#canWrite;
      },
    };
  }

  #write(events: readonly JsonObject[]): void {
    for (const event of events) {
      this.#events += 1;
      if (event.type === 'error') this.#hasError = true;
      this.#canWrite = this.#sink.write(Buffer.from(typedEvent(event)));
    }
  }

  #reply(reply: InnerReply): void {
    if (this.#sink.started) this.#refuse(failureOf(reply));
    else this.#sink.send(reply.status, replyHeaders(reply.headers), reply.body);
  }

  #refuse(error: GatewayError): void {
    if (this.#sink.aborted || this.#sink.finished) return;
    const { wire } = this.#format;
    if (!this.#sink.started) {
      const { status, headers, body } = this.#parts.errorReply(error, wire, this.#id);
      this.#sink.send(status, headers, body);
      return;
    }
    if (!this.#hasError) this.#sink.write(Buffer.from(streamError(error, wire, this.#events)));
    this.#sink.end();
  }

  /** Ends all requests, as their client has disconnected or the time is over. */
  #leave(error?: GatewayError): void {
    for (const inner of [...this.#running]) inner.leave(error);
  }

  /** Counts all requests that the gateway makes as the one of the client. */
  #countFor(owner: string): boolean {
    if (this.#owner !== null) return true;
    if (this.#sink.countFor?.(owner) === false) return false;
    this.#owner = owner;
    return true;
  }

  #hold(bytes: number): void {
    this.#parts.memory?.take(bytes, noOwner, this.#heldBytes);
    this.#heldBytes += bytes;
  }
}

/** The length of a reply changes with its body. */
function replyHeaders(headers: HeaderList): HeaderList {
  return headers.filter((_, i) => !/^(content-length|transfer-encoding)$/.test(headers[i - (i % 2)] as string));
}

/** Returns the error of a reply that came after the beginning of a stream. */
function failureOf({ status, headers, body }: InnerReply): GatewayError {
  const isJson = /json/.test(findHeader(headers, 'content-type') ?? '');
  const parsed = isJson ? parseObject(Buffer.from(body).toString('utf8')) : null;
  const text = isObject(parsed?.error) && typeof parsed.error.message === 'string' ? `: ${parsed.error.message}` : '';
  return new GatewayError('upstream_status', { message: `The model replied with status ${status}${text}` });
}

function lateError(ms: number): GatewayError {
  return new GatewayError('request_timeout', {
    message: `The model and its tools took longer than ${ms} ms (MODEL_TOOLS_TIMEOUT)`,
  });
}
