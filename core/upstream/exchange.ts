import type { IncomingHttpHeaders } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import type { UpstreamCall, UpstreamExchange, UpstreamHandler } from '../contract/provider/upstream.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Connection } from './connection.ts';
import type { Deadlines, Timed } from './deadlines.ts';
import { toReplyHeaders, withoutHopByHop } from './hop-by-hop.ts';
import type { Pool } from './pool.ts';
import { UploadStream } from './upload-stream.ts';
import { cutByReset, isClosedSocket, notReached, type Phase, toUpstreamError } from './upstream-error.ts';

/** Services shared by all exchanges of a transport. */
export interface ExchangeServices {
  readonly deadlines: Deadlines;
  /** Called once per exchange, when it has ended for any reason. */
  readonly onOver: () => void;
  /** Monotonic milliseconds, read once per turn of the event loop: reading the clock can cost a system call. */
  readonly now: () => number;
  /** Receives errors that a handler throws from `onEnd` or `onError`. */
  readonly onHandlerError: (error: unknown) => void;
}

/**
 * One call in progress: undici's handler, the deadline on the wheel and the caller's handle in one object, so that a call
 * allocates once. The handler is not called before `send` has returned, nor after the end, an error or `abort`.
 */
export class Exchange implements UpstreamExchange, Timed, Dispatcher.DispatchHandler {
  next: Timed | null = null;
  previous: Timed | null = null;
  tick = 0;
  readonly #call: UpstreamCall;
  readonly #handler: UpstreamHandler;
  readonly #pool: Pool;
  readonly #services: ExchangeServices;
  #request: Dispatcher.DispatchOptions;
  #connection: Connection | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: Phase = 'connect';
  #over = false;
  #aborted = false;
  /** True while `send` runs. Errors wait until the caller has its handle. */
  #sending = true;
  #hasResponse = false;
  #reused = false;
  #paused = false;
  #resumeAsked = false;
  #connectAtMs: number;
  #firstByteAtMs: number;
  #totalAtMs: number;
  #sentAtMs = 0;
  #lastDataAtMs = 0;

  constructor(call: UpstreamCall, handler: UpstreamHandler, pool: Pool, services: ExchangeServices) {
    this.#call = call;
    this.#handler = handler;
    this.#pool = pool;
    this.#services = services;
    this.#request = toDispatchOptions(call);
    const nowMs = services.now();
    const { connectMs, firstByteMs, totalMs } = call.timeouts;
    this.#connectAtMs = after(nowMs, connectMs);
    this.#firstByteAtMs = after(nowMs, firstByteMs);
    this.#totalAtMs = after(nowMs, totalMs);
    pool.lastUsedMs = nowMs;
  }

  /** Sends the request. Called once. */
  start(): void {
    const dueMs = this.#dueMs(0);
    if (dueMs < Number.POSITIVE_INFINITY) this.#services.deadlines.schedule(this, dueMs);
    this.#dispatch(false);
    this.#sending = false;
  }

  get sent(): boolean {
    return this.#phase !== 'connect';
  }

  resume(): void {
    this.#resumeAsked = true;
    if (!this.#paused || this.#over) return;
    this.#paused = false;
    this.#lastDataAtMs = this.#services.now();
    // undici parses one socket at a time and cannot be resumed from within a handler, not even another exchange's.
    queueMicrotask(() => {
      if (!this.#over) this.#controller?.resume();
    });
  }

  abort(): void {
    this.#aborted = true;
    if (!this.#over) this.#cut();
  }

  expire(nowMs: number): number {
    const dueMs = this.#dueMs(nowMs);
    if (dueMs > nowMs) return dueMs === Number.POSITIVE_INFINITY ? 0 : dueMs;
    this.#failCut(this.#timeoutError(nowMs));
    return 0;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) return controller.abort(ended);
    const connection = this.#connection as Connection;
    this.#controller = controller;
    this.#reused = !connection.fresh;
    connection.fresh = false;
    this.#phase = 'head';
    if (this.#reused) this.#sentAtMs = this.#services.now();
  }

  /** Called for the first byte of a reply, before its head is complete. */
  onResponseStarted(): void {
    this.#hasResponse = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx responses do not describe the final response. (100 never arrives here: undici rejects it if no request expected it.)
    if (this.#over || status < 200) return;
    this.#phase = 'body';
    const { idleMs, awaitsBody } = this.#call.timeouts;
    if (!awaitsBody) this.#firstByteAtMs = Number.POSITIVE_INFINITY;
    if (idleMs > 0) {
      this.#lastDataAtMs = this.#services.now();
      this.#services.deadlines.hasten(this, this.#lastDataAtMs + idleMs);
    }
    this.#handler.onHead(status, toReplyHeaders(headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    this.#lastDataAtMs = this.#services.now();
    this.#firstByteAtMs = Number.POSITIVE_INFINITY;
    this.#resumeAsked = false;
    if (this.#handler.onData(chunk) || this.#resumeAsked || this.#over) return;
    this.#paused = true;
    controller.pause();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    // A response without a length ends where its connection ends. A reset there is a cut, which framing alone cannot detect.
    if (this.#connection?.socket?.errored) return this.#fail(cutByReset());
    this.#finish(true);
    try {
      this.#handler.onEnd();
    } catch (error) {
      this.#services.onHandlerError(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    if (this.#mayResend(error)) {
      const closed = this.#connection as Connection;
      this.#controller = null;
      this.#phase = 'connect';
      this.#dispatch(true);
      this.#pool.release(closed, false);
      return;
    }
    this.#fail(toUpstreamError(error, this.#phase));
  }

  #dispatch(fresh: boolean): void {
    this.#connection = this.#pool.acquire(fresh);
    this.#connection.dispatch(this.#request, this);
  }

  /**
   * The peer may close a kept-alive socket just before a request is written to it. The peer has not received such a request, so it is sent
   * once more, on a new socket (hence never a third time), if its body is available. Requests that must not run twice are repeated only if
   * they failed as fast as a closed socket does. A provider that closes the socket later may have received the request.
   */
  #mayResend(error: Error): boolean {
    if (!this.#reused || this.#hasResponse || this.#phase !== 'head' || !isClosedSocket(error)) return false;
    if (this.#request.body instanceof UploadStream) return false;
    return idempotent.has(this.#call.method) || performance.now() - this.#sentAtMs < closedSocketMs;
  }

  /** Returns the current deadline of this exchange. */
  #dueMs(nowMs: number): number {
    if (this.#phase === 'connect') return Math.min(this.#connectAtMs, this.#firstByteAtMs, this.#totalAtMs);
    if (this.#phase === 'head') return Math.min(this.#firstByteAtMs, this.#totalAtMs);
    const { idleMs } = this.#call.timeouts;
    const limitAtMs = Math.min(this.#firstByteAtMs, this.#totalAtMs);
    if (idleMs === 0) return limitAtMs;
    // The provider's silence does not count while the gateway has paused it.
    return Math.min(limitAtMs, (this.#paused ? nowMs + 1 : this.#lastDataAtMs) + idleMs);
  }

  #timeoutError(nowMs: number): GatewayError {
    const { connectMs, firstByteMs, idleMs, totalMs } = this.#call.timeouts;
    if (nowMs >= this.#firstByteAtMs) return requestTimeout(firstByteMs);
    if (nowMs >= this.#totalAtMs) return requestTimeout(totalMs);
    if (this.#phase === 'connect') return notReached(connectMs, this.#connection?.isResolving ?? false);
    return new GatewayError('request_timeout', { message: `The provider sent nothing for ${idleMs}ms`, waitedMs: idleMs });
  }

  /** Ends the exchange in any state and closes its socket. */
  #cut(): void {
    const controller = this.#controller;
    const connection = this.#connection;
    this.#finish(false);
    if (controller !== null) controller.abort(ended);
    else connection?.cancelConnect();
  }

  #failCut(error: GatewayError): void {
    this.#cut();
    this.#callBack(error);
  }

  #fail(error: GatewayError): void {
    this.#finish(false);
    if (this.#sending) queueMicrotask(() => this.#callBack(error));
    else this.#callBack(error);
  }

  #callBack(error: GatewayError): void {
    if (this.#aborted) return;
    try {
      this.#handler.onError(error);
    } catch (error) {
      this.#services.onHandlerError(error);
    }
  }

  #finish(reuse: boolean): void {
    this.#over = true;
    this.#services.deadlines.cancel(this);
    if (this.#connection !== null) this.#pool.release(this.#connection, reuse);
    this.#connection = null;
    this.#services.onOver();
  }
}

function toDispatchOptions(call: UpstreamCall): Dispatcher.DispatchOptions {
  const headers = withoutHopByHop(call.headers);
  const { path, method, body } = call;
  if (body === null || body instanceof Uint8Array) return { path, method, headers, body };
  if (body.length === 0) return { path, method, headers, body: null };
  const stream = new UploadStream(body, call.bodyBytesMax ?? Number.MAX_SAFE_INTEGER);
  const framed = body.length > 0 ? [...headers, 'content-length', String(body.length)] : headers;
  return { path, method, headers: framed, body: stream };
}

function after(nowMs: number, spanMs: number): number {
  return spanMs > 0 ? nowMs + spanMs : Number.POSITIVE_INFINITY;
}

/** Clients match this text. */
function requestTimeout(spanMs: number): GatewayError {
  const message = `Request exceeded the timeout sent in the request: ${spanMs}ms`;
  return new GatewayError('request_timeout', { message, waitedMs: spanMs });
}

/** RFC 9110 §9.2.2. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

/** Time limit in milliseconds. A request on a socket that the peer has closed fails within one round trip. */
const closedSocketMs = 1000;

/** One shared object, because a stack trace per abort would cost more than the abort. */
const ended = Object.assign(new Error('the exchange is over'), { code: 'ABORT_ERR' });
