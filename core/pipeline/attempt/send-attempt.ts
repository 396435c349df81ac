import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Reply } from '../../contract/plugin/plugin.ts';
import type { CapturedExchange } from '../../contract/plugin/record/content-capture.ts';
import type { FrameSocket } from '../../contract/plugin/sessions/web-socket.ts';
import type { StreamDenial } from '../../contract/plugin/stream-filter.ts';
import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { UpstreamExchange, UpstreamHandler, UpstreamSender } from '../../contract/provider/upstream.ts';
import type { ArrivingBody } from '../../contract/values/bodies/body-intake.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList, ReplySink } from '../../contract/values/http/http.ts';
import { isPromise } from '../../contract/values/maybe.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { AttemptReply } from '../attempt-reply.ts';
import type { ResolvedTarget } from '../target/resolve-target.ts';
import { unfinishedUsage, usageOfCall } from '../usage/estimate-usage.ts';
import { type MeterReply, type ReplyMeter, usageWithoutResponse } from '../usage/reply-meter.ts';
import { sendDecoded } from './decoded-response.ts';
import { HeldReply } from './held-reply.ts';
import { hideCredentials, sendPassed } from './hide-credentials.ts';
import { deniedResponse, isHeld, type Judge } from './judge-response.ts';
import type { Outgoing } from './outgoing-call.ts';
import { PassingEvents, wholeEnd } from './passing-events.ts';
import { plainReply } from './plain-reply.ts';
import { beginsWithEvent, contentLength, eventStreamType, isJson, isStream, withEventStreamType } from './reply-body.ts';
import { addGatewayHeaders, passedHeaders } from './reply-headers.ts';
import { ReplyStream } from './reply-stream.ts';
import { seenResponse } from './seen-response.ts';

export interface AttemptOptions {
  readonly sender: UpstreamSender;
  readonly clock: Clock;
  readonly meterReply: MeterReply;
  /** Returns true if a response with this status is sent in any case: no retry and no other target is left. */
  isFinal(status: number): boolean;
  /** Throws `model_not_allowed`; null if the target does not restrict its models. */
  readonly allowModel: ((model: string) => void) | null;
  /** Judges an accepted response that is not held; null if no plugin judges responses. */
  readonly judge: Judge | null;
  /** Called first when the attempt is aborted, with the reason: the client has disconnected, or the process ends. */
  onLeft(error: GatewayError): void;
}

/** Sends one call and handles its response: streamed, passed through, or read whole, as route and plan require. */
export function sendAttempt(
  ctx: RequestContext,
  sink: ReplySink,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  options: AttemptOptions,
): Promise<AttemptReply> {
  ctx.usage = null;
  ctx.streamEvents = 0;
  ctx.streamFilter = null;
  return new Promise((resolve) => {
    const run = new Attempt(ctx, sink, resolved, outgoing, options, resolve);
    const [{ sender }, { call, operation }] = [options, outgoing];
    if (operation) run.exchange = sendDecoded(sender, call, hideCredentials(resolved, run));
    else run.exchange = sendPassed(sender, call, resolved, run);
    // The client may have disconnected, or the transport failed, before `send` returned.
    if (run.settled || ctx.aborted) run.exchange.abort();
    ctx.abortUpstream = run.abort;
    ctx.endStream = run.endStream;
  });
}

/** Responses up to this load are never held back. */
const smallLoad = 64 * 1024;
/** Load of a chunk, and of an event or comment: each takes as long as about this many bytes of a plain body. */
const itemLoad = 512;

class Attempt implements UpstreamHandler, ArrivingBody {
  exchange: UpstreamExchange | null = null;
  settled = false;
  readonly #ctx: RequestContext;
  readonly #sink: ReplySink;
  readonly #resolved: ResolvedTarget;
  readonly #outgoing: Outgoing;
  readonly #options: AttemptOptions;
  readonly #resolve: (reply: AttemptReply) => void;
  #status = 0;
  #headers: HeaderList = [];
  #held: HeldReply | null = null;
  #stream: ReplyStream | null = null;
  #events: PassingEvents | null = null;
  /** The exchange as logs show it; null if no bodies are stored. */
  readonly #captured: CapturedExchange | null;
  /** Reads the usage of a reply that is passed through. */
  #meter: ReplyMeter | null = null;
  /** Bytes received, plus `itemLoad` for each chunk, event and comment. */
  #load = 0;
  /** Other requests have precedence. */
  #isHeldBack = false;
  /** The client is slower than the provider. */
  #isBlocked = false;

  constructor(
    ctx: RequestContext,
    sink: ReplySink,
    resolved: ResolvedTarget,
    outgoing: Outgoing,
    options: AttemptOptions,
    resolve: (reply: AttemptReply) => void,
  ) {
    this.#ctx = ctx;
    this.#sink = sink;
    this.#resolved = resolved;
    this.#outgoing = outgoing;
    this.#options = options;
    this.#resolve = resolve;
    this.#captured = ctx.content === null ? null : ctx.content.exchange;
  }

  readonly abort = (error = new GatewayError('client_closed')): void => {
    // A provider that has received the request processes and bills it, even if the client has disconnected.
    const isAtProvider = this.#status === 0 ? this.exchange?.sent !== false : this.#isAccepted;
    this.exchange?.abort();
    if (this.settled) return;
    if (isAtProvider) this.#countUnfinished();
    this.#options.onLeft(error);
    this.#settle({ kind: 'error', error });
  };

  readonly endStream = (error: GatewayError): void => {
    this.exchange?.abort();
    this.onError(error);
  };

  onHead(status: number, headers: HeaderList): void {
    this.#status = status;
    this.#headers = headers;
    if (this.#captured !== null) {
      this.#captured.status = status;
      this.#captured.response.headers = headers;
    }
    this.#ctx.times.firstByteAt = performance.now();
    const ok = this.#isAccepted;
    if (ok && this.#ctx.passed) this.#meter = this.#options.meterReply(this.#ctx, headers);
    if (isHeld(this.#ctx)) return;
    const { operation, operationCall } = this.#outgoing;
    if (operation && operationCall) {
      if (!ok) return;
      if (operationCall.stream && isStream(headers, operation)) this.#openEvents(operation, operationCall);
      else if (operation.passesBytes && (operation.passesJson || !isJson(headers))) this.#openBytes(headers);
    } else if (ok ? !this.#ctx.endpoint?.namesResults : this.#options.isFinal(status)) this.#openBytes(headers);
  }

  onWebSocket(given: HeaderList, socket: FrameSocket, protocol: string | null): void {
    if (this.settled) return socket.terminate();
    const { adapter } = this.#resolved;
    this.#ctx.provider = adapter.id;
    const { allowModel } = this.#options;
    const headers = passedHeaders(given, null);
    this.#settle({ kind: 'upgraded', status: 101, headers, socket, protocol, adapter, allowModel, error: null });
  }

  onData(chunk: Uint8Array): boolean {
    if (this.#captured !== null) this.#captured.response.add(chunk);
    try {
      const before = this.#events === null ? 0 : this.#events.frameCount;
      this.#isBlocked = !this.#pass(chunk);
      // Metering follows the write, so that it does not delay the bytes.
      this.#meter?.push(chunk);
      const frames = this.#events === null ? 0 : this.#events.frameCount - before;
      const load = chunk.length + itemLoad * (1 + frames);
      this.#load += load;
      if (this.#load > smallLoad) this.#ctx.memory?.intake.take(this, load);
      return !this.#isBlocked && !this.#isHeldBack;
    } catch (thrown) {
      this.#fail(toGatewayError(thrown));
      return true;
    }
  }

  holdBack(): void {
    this.#isHeldBack = true;
  }

  goOn(): boolean {
    this.#isHeldBack = false;
    if (!this.#isBlocked) this.exchange?.resume();
    return false;
  }

  #pass(chunk: Uint8Array): boolean {
    if (!this.#stream) return this.#keep(chunk);
    const passed = this.#events ? this.#translated(chunk, this.#events, this.#stream) : chunk;
    return passed === null ? true : this.#stream.write(passed);
  }

  /** A client whose reply has begun receives the events before one that cannot be translated. Until then another target can be called. */
  #translated(chunk: Uint8Array, events: PassingEvents, stream: ReplyStream): Uint8Array | null {
    try {
      return events.push(chunk);
    } catch (thrown) {
      if (this.#sink.started) stream.write(events.unsent);
      throw thrown;
    }
  }

  onEnd(): void {
    this.#ctx.times.lastByteAt = performance.now();
    const metering = this.#meter?.end();
    const deciding = this.#stream?.decided ?? null;
    if (!metering && !deciding) this.#end();
    else void Promise.all([metering, deciding]).then(() => this.#end());
  }

  #end(): void {
    if (this.settled) return;
    try {
      if (this.#meter) this.#count(this.#meter.usage(), 0);
      if (this.#stream) this.#endStream();
      else this.#endPlain();
    } catch (thrown) {
      // Such as a binary stream that ends inside a frame. An attempt that is never settled would leave its client waiting.
      this.#fail(toGatewayError(thrown));
    }
  }

  onError(error: GatewayError): void {
    if (this.settled) return;
    try {
      // A provider that has received the request bills it, also if its response comes too late.
      const isLate = this.#status === 0 && error.code === 'request_timeout' && this.exchange?.sent !== false;
      if (this.#isAccepted || isLate) this.#countUnfinished(error.reported !== null && this.#events?.isErrorFirst);
    } catch {
      // A third-party adapter cannot read its usage. The attempt must end in any case, with its first error.
    }
    this.#settle(this.#sink.started ? this.#streamed(error, false) : { kind: 'error', error });
  }

  /** The end of a reply that has begun. Hooks may have changed its status. */
  #streamed(error: GatewayError | null, errorSent: boolean, raw = this.#events === null): AttemptReply {
    const status = this.#stream?.status ?? this.#status;
    return { kind: 'streamed', status, error, errorSent, sentEvents: this.#events?.sentCount ?? 0, raw };
  }

  /** True once the provider has begun to return the requested content. */
  get #isAccepted(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  #open(headers: HeaderList, contentLength: number | undefined): void {
    const ctx = this.#ctx;
    ctx.provider = this.#resolved.adapter.id;
    addGatewayHeaders(ctx, headers, this.#status, this.#outgoing.operationCall);
    const judge = this.#isAccepted ? (this.#options.judge?.head ?? null) : null;
    const head = { status: this.#status, headers };
    this.#stream = new ReplyStream(ctx, this.#sink, this.#options.clock, head, contentLength, judge);
    this.#sink.onDrain(() => this.#resume());
    try {
      this.#stream.decide(() => this.#decided());
    } catch (thrown) {
      this.#fail(toGatewayError(thrown));
      return;
    }
    const { rejected, replacement } = this.#stream;
    if (rejected) this.#reject(rejected);
    else if (replacement) this.#replace(replacement);
  }

  #openEvents(operation: Operation, call: OperationCall): void {
    const { clock } = this.#options;
    this.#events = new PassingEvents(operation, call, clock, (length) => this.#ctx.holdBytes(length, 'response'));
    this.#open(passedHeaders(this.#headers, this.#events.isTranslated ? eventStreamType : null), undefined);
  }

  /**
   * Gives events with another content type, or none, as some local servers and proxies send them, the content type of events, so that
   * plugins and clients read them as every other stream. Returns true if it did.
   */
  #nameStream(beginning: Uint8Array): boolean {
    const { operation, operationCall } = this.#outgoing;
    if (!this.#isAccepted || !operationCall?.stream || !operation || operation.decodeStream) return false;
    if (isStream(this.#headers, operation) || !beginsWithEvent(beginning)) return false;
    this.#headers = withEventStreamType(this.#headers);
    return true;
  }

  /** Sends the provider's bytes unchanged and with their length. */
  #openBytes(headers: HeaderList): void {
    this.#open(passedHeaders(headers, null), contentLength(headers));
  }

  /** Continues after an asynchronous `onReply` hook. */
  #decided(): void {
    const { failure, rejected, replacement } = this.#stream as ReplyStream;
    if (failure !== null) this.#fail(toGatewayError(failure));
    else if (rejected) this.#reject(rejected);
    else if (replacement) this.#replace(replacement);
    else this.#resume();
  }

  #resume(): void {
    this.#isBlocked = false;
    if (!this.#isHeldBack) this.exchange?.resume();
  }

  #keep(chunk: Uint8Array): boolean {
    if (this.#held === null && this.#nameStream(chunk) && !isHeld(this.#ctx)) {
      this.#openEvents(this.#outgoing.operation as Operation, this.#outgoing.operationCall as OperationCall);
      // A hook or a verdict may have ended the attempt.
      return this.settled || this.#pass(chunk);
    }
    this.#held ??= new HeldReply();
    this.#ctx.holdBytes(chunk.length, 'response');
    if (this.#held.push(this.#status, chunk, this.#resolved.adapter.id)) return true;
    this.exchange?.abort();
    this.#ctx.times.lastByteAt = performance.now();
    this.#endPlain();
    return true;
  }

  #endPlain(): void {
    const body = this.#held?.body ?? new Uint8Array(0);
    this.#nameStream(body);
    const reply = { status: this.#status, headers: this.#headers, body };
    const attemptReply = plainReply(this.#ctx, this.#resolved.adapter, this.#outgoing, reply, this.#count);
    if (isPromise(attemptReply)) void attemptReply.then((given) => this.#settleParsed(given));
    else this.#settleParsed(attemptReply);
  }

  #settleParsed(reply: AttemptReply): void {
    const { times } = this.#ctx;
    times.replyParseMs = performance.now() - times.lastByteAt;
    this.#settle(reply);
  }

  #endStream(): void {
    const stream = this.#stream as ReplyStream;
    if (stream.failure !== null) return this.#fail(toGatewayError(stream.failure));
    if (stream.rejected) return this.#reject(stream.rejected);
    if (stream.replacement) return this.#replace(stream.replacement);
    const { rest, error, errorSent } = this.#events?.end(this.#resolved.adapter.id, this.#ctx.headerPrefix) ?? wholeEnd;
    if (error) this.#countUnfinished();
    else if (!this.#meter) this.#count(this.#events?.usage ?? usageOfCall(this.#outgoing), this.#events?.count ?? 0);
    if (error && !this.#sink.started) return this.#settle({ kind: 'error', error });
    if (error === null) stream.end(rest);
    else {
      if (rest !== '') stream.write(Buffer.from(rest));
      stream.start();
    }
    this.#settle(this.#streamed(error, errorSent));
  }

  /** A verdict ended the attempt. The provider bills the tokens it has generated so far. */
  #reject(reply: AttemptReply): void {
    this.exchange?.abort();
    if (this.settled) return;
    this.#countUnfinished();
    this.#ctx.discardUsage();
    this.#settle(reply);
  }

  #replace(reply: Reply): void {
    this.exchange?.abort();
    if (!this.settled && this.#isAccepted) this.#countUnfinished();
    this.#settle({ kind: 'replaced', reply });
  }

  #fail(error: GatewayError): void {
    this.exchange?.abort();
    const denial = this.#ctx.streamFilter?.denial;
    if (denial && !this.settled) this.#deny(denial);
    else this.onError(error);
  }

  /** The filter of the stream denied it. Before the first byte this fails the attempt, so that another target can be called. */
  #deny({ reply, lastEvents }: StreamDenial): void {
    if (!this.#sink.started) return this.#reject(deniedResponse(reply, this.#outgoing.operationCall));
    this.#countUnfinished();
    if (lastEvents !== null) this.#sink.write(Buffer.from(lastEvents));
    const error = new GatewayError('response_denied', { status: reply.status });
    this.#settle(this.#streamed(error, lastEvents !== null, false));
  }

  /** Notes the usage of a reply that did not reach its end. If the provider refused the call, only what it reported counts. */
  #countUnfinished(isRefused = false): void {
    const { passed, endpoint } = this.#ctx;
    if (passed) return this.#count(this.#meter?.unfinished() ?? usageWithoutResponse(passed, endpoint), 0);
    const seen = seenResponse(this.#outgoing, this.#headers, this.#events, this.#held);
    this.#count(isRefused ? seen.usage : unfinishedUsage(this.#ctx, this.#outgoing, seen), seen.events);
  }

  /** Sets the usage of the attempt, and the number of events of its stream. */
  readonly #count = (usage: Usage | null, events: number): void => {
    this.#ctx.usage = usage;
    this.#ctx.streamEvents = events;
  };

  #settle(reply: AttemptReply): void {
    if (this.settled) return;
    this.settled = true;
    // Another attempt may follow, and failed requests are free: what the provider bills is noted apart.
    if (reply.kind === 'error' && reply.error.code !== 'client_closed') this.#ctx.discardUsage();
    if (this.#load > smallLoad) this.#ctx.memory?.intake.leave(this);
    this.#resolve(reply.kind === 'error' ? { ...reply, headers: this.#headers } : reply);
  }
}
