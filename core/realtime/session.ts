import {
  closeCodes,
  type FrameSocket,
  type SessionDecision,
  type SessionMessage,
  type SessionOutcome,
  type SessionStart,
} from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import { sumUsage, type Usage } from '../contract/values/models/usage.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { checkJsonLimits } from '../pipeline/request/json-limits.ts';
import {
  type Closing,
  closingOfClient,
  closingOfProvider,
  type Farewell,
  goingAway,
  mayNotGoOn,
  pluginFailed,
  tooManyValues,
  tooSlow,
} from './closing.ts';
import { Inspection } from './inspection.ts';
import { OpenResponse } from './open-response.ts';
import { Reading } from './reading.ts';
import { Relay } from './relay.ts';
import { SessionEstimate } from './session-estimate.ts';
import { SessionUsage } from './session-usage.ts';

export interface SessionLimits {
  /** Maximum silence of both sides in milliseconds. 0: no limit. */
  readonly idleMs: number;
  /** Maximum length of a session in milliseconds. 0: no limit. */
  readonly totalMs: number;
  /** Maximum bytes that wait for one side before the session ends, in case the sender does not stop when paused. */
  readonly bufferedBytesMax: number;
  /** Interval in milliseconds at which the usage of an open session is recorded. */
  readonly recordMs: number;
  /** Maximum values of a message of JSON, as of a request body. */
  readonly jsonValuesMax: number;
}

const pingEveryMs = 30_000;
/** A side that sends no reply for this time counts as disconnected. */
const deadAfterMs = 75_000;
/** Time for the provider to reply to the close frame after the client has disconnected. */
const farewellMs = 1000;

/** One side of a session. */
interface Side {
  readonly socket: FrameSocket;
  readonly reading: Reading;
  /** Forwards its messages to the other side. */
  readonly relay: Relay;
  /** Null: messages are not inspected. */
  readonly inspection: Inspection | null;
  messages: number;
  bytes: number;
  receivedAtMs: number;
  pingedAtMs: number;
  closed: boolean;
}

/**
 * One session. Messages pass unchanged between client and provider, each way only as fast as the receiver accepts them. The
 * tokens that the provider reports are added up. The side that closes first decides the outcome. The outcome is recorded once,
 * and the other side is closed after the record is safe.
 */
export class Session {
  readonly #given: SessionStart;
  readonly #limits: SessionLimits;
  readonly #clock: Clock;
  readonly #closed: () => void;
  readonly #client: Side;
  readonly #provider: Side;
  readonly #usage: SessionUsage | null;
  readonly #estimate: SessionEstimate | null;
  /** Null if the provider is not known to state usage. */
  readonly #open: OpenResponse | null;
  readonly #startedAtMs: number;
  #activeAtMs: number;
  #over = false;
  /** The message that comes before those of the client, if it is inspected. */
  #first: SessionMessage | null = null;
  /** True while usage has not been passed to plugins. */
  #isUncounted = false;
  #isCounting = false;
  /** True while plugins check if the caller may continue. */
  #isLooking = false;
  /** Time of the last record, and whether there was usage since. */
  #recordedAtMs: number;
  #isUnrecorded = false;

  /** `closed` is called once, when both sockets are closed. */
  constructor(given: SessionStart, limits: SessionLimits, clock: Clock, closed: () => void) {
    this.#given = given;
    this.#limits = limits;
    this.#clock = clock;
    this.#closed = closed;
    this.#startedAtMs = clock.elapsed();
    this.#activeAtMs = this.#startedAtMs;
    this.#recordedAtMs = this.#startedAtMs;
    this.#client = this.#sideOf(given.client, given.provider, () => this.#client);
    this.#provider = this.#sideOf(given.provider, given.client, () => this.#provider);
    this.#usage = given.readUsage === null ? null : new SessionUsage(given.readUsage);
    this.#estimate = given.isEstimated ? new SessionEstimate() : null;
    this.#open = given.readUsage === null || given.isEstimated ? null : new OpenResponse();
  }

  start(): void {
    this.#listen(this.#client, this.#provider, (data) => data, closingOfClient);
    this.#listen(this.#provider, this.#client, (data, isBinary) => this.#fromProvider(data, isBinary), closingOfProvider);
    this.#checkpoint();
    this.#sendFirst();
    this.#client.socket.resume();
    this.#provider.socket.resume();
  }

  /** Checks time limits, and whether both sides are still connected. */
  look(nowMs: number): void {
    if (this.#over) return;
    const { idleMs, totalMs } = this.#limits;
    if (totalMs > 0 && nowMs - this.#startedAtMs >= totalMs)
      return this.#finish(goingAway('The session has reached its time limit'));
    if (idleMs > 0 && nowMs - this.#activeAtMs >= idleMs) return this.#finish(goingAway('The session was idle for too long'));
    if (!this.#isLooking) void this.#askWhetherToGoOn();
    if (this.#isUncounted) void this.#count();
    if (this.#isUnrecorded && nowMs - this.#recordedAtMs >= this.#limits.recordMs) this.#checkpoint();
    if (this.#isDead(this.#client, nowMs)) return this.#client.socket.terminate();
    if (this.#isDead(this.#provider, nowMs)) return this.#provider.socket.terminate();
  }

  /** Called when the process stops. */
  goAway(): void {
    this.#finish({ ...goingAway('The gateway is shutting down'), kind: 'cut', error: new GatewayError('draining') });
  }

  /** Ends the session without waiting for either side. */
  terminate(): void {
    this.#client.socket.terminate();
    this.#provider.socket.terminate();
  }

  /** Sends the message that comes before those of the client. */
  #sendFirst(): void {
    const { firstMessage } = this.#given;
    if (firstMessage === null) return;
    const { inspection, relay } = this.#client;
    if (!inspection) return relay.pass(firstMessage, false);
    this.#first = { data: firstMessage, isBinary: false, isFromClient: true };
    inspection.push(this.#first);
  }

  #listen(
    from: Side,
    to: Side,
    pass: (data: Uint8Array, isBinary: boolean) => Uint8Array | null,
    closingOf: (code: number, reason: string, byRule: boolean) => Closing,
  ): void {
    from.socket.listen({
      onMessage: (data, isBinary) => {
        if (this.#over || this.#isExcessive(data, isBinary, from)) return;
        from.messages++;
        from.bytes += data.length;
        this.#given.readModel?.(data, from === this.#client);
        if (this.#estimate) this.#addEstimate(data, isBinary, from === this.#client);
        this.#open?.add(data, from === this.#client);
        from.receivedAtMs = this.#clock.elapsed();
        this.#activeAtMs = from.receivedAtMs;
        const passed = pass(data, isBinary);
        if (passed === null || this.#over) return;
        if (from.inspection) from.inspection.push({ data: passed, isBinary, isFromClient: from === this.#client });
        else from.relay.pass(passed, isBinary);
        this.#endIfSlow(from);
        // Counted after the message with the usage, so that the client gets its last reply. `look` counts estimates.
        if (this.#isUncounted && this.#usage?.total()) void this.#count();
      },
      // `from` accepts bytes again, so `to` may continue sending.
      onDrain: () => {
        if (!this.#over) to.relay.goOn();
      },
      onPong: () => {
        from.receivedAtMs = this.#clock.elapsed();
      },
      onClose: (code, reason, byRule) => {
        from.closed = true;
        const finish = () => {
          this.#finish(closingOf(code, reason, byRule));
          if (to.closed) this.#closed();
        };
        // The last messages of a side that has closed are inspected before the other side is closed. A client without a close frame is
        // not waiting for their effect.
        const isGone = from === this.#client && code === closeCodes.cut;
        if (from.inspection && !isGone) from.inspection.whenIdle(finish);
        else finish();
      },
    });
  }

  /** Ends the session and returns true if a message has so many values that parsing it would block the process. */
  #isExcessive(data: Uint8Array, isBinary: boolean, from: Side): boolean {
    // Others are no JSON, such as sound.
    if (isBinary && !(this.#given.readsBinary && data[0] === openBrace)) return false;
    try {
      checkJsonLimits(data, this.#limits.jsonValuesMax);
      return false;
    } catch (thrown) {
      this.#finish(tooManyValues(toGatewayError(thrown), from === this.#client ? 'client' : 'provider'));
      return true;
    }
  }

  #sideOf(socket: FrameSocket, other: FrameSocket, side: () => Side): Side {
    const reading = new Reading(socket, () => {
      side().receivedAtMs = this.#clock.elapsed();
    });
    const { inspect } = this.#given;
    const inspection =
      inspect &&
      new Inspection(reading, {
        inspect,
        decided: (message, decision) => this.#follow(side(), message, decision),
        failed: (thrown) => this.#finish(pluginFailed(thrown)),
      });
    const relay = new Relay(reading, other);
    const nowMs = this.#startedAtMs;
    return { socket, reading, relay, inspection, messages: 0, bytes: 0, receivedAtMs: nowMs, pingedAtMs: nowMs, closed: false };
  }

  #follow(from: Side, message: SessionMessage, decision: SessionDecision | undefined): void {
    if (this.#over) return;
    for (const { data, isBinary } of decision?.forward ?? [message]) from.relay.pass(data, isBinary);
    if (decision?.toClient) {
      this.#provider.relay.pass(decision.toClient, false);
      this.#endIfSlow(this.#provider);
    }
    if (decision?.error) this.#finish(mayNotGoOn(decision.error));
    // The session would continue without its settings.
    else if (message === this.#first && decision?.forward.length === 0)
      this.#finish(mayNotGoOn(new GatewayError('request_denied', { message: 'The settings of the session were denied' })));
  }

  #endIfSlow(from: Side): void {
    const waitingBytes = from.relay.waitingBytes + (from.inspection?.waitingBytes ?? 0);
    if (waitingBytes > this.#limits.bufferedBytesMax) this.#finish(tooSlow(from === this.#client ? 'provider' : 'client'));
  }

  #fromProvider(data: Uint8Array, isBinary: boolean): Uint8Array | null {
    const isEvent = !isBinary || (this.#given.readsBinary && data[0] === openBrace);
    if (isEvent && this.#usage?.take(data)) {
      this.#open?.counted();
      this.#given.ctx.usage = this.#usage.total();
      this.#isUncounted = true;
      this.#isUnrecorded = true;
    }
    let passed: Uint8Array | null = data;
    for (const hook of this.#given.ctx.plan.onChunk) {
      try {
        passed = hook(this.#given.ctx, passed);
      } catch (thrown) {
        this.#finish(pluginFailed(thrown));
        return null;
      }
      if (passed === null) return null;
    }
    return passed;
  }

  /** Estimates usage by size until an event has stated usage. */
  #addEstimate(data: Uint8Array, isBinary: boolean, isFromClient: boolean): void {
    if (this.#usage?.total()) return;
    this.#estimate?.add(data, isBinary, isFromClient);
    this.#given.ctx.usage = this.#used();
    this.#isUncounted = true;
    this.#isUnrecorded = true;
  }

  #used(): Usage | null {
    return this.#usage?.total() ?? this.#estimate?.total() ?? null;
  }

  /** Returns the usage with that of a response in progress. */
  #usedAtEnd(): Usage | null {
    const [used, open] = [this.#used(), this.#open?.usage() ?? null];
    return used && open ? sumUsage([open, used]) : (used ?? open);
  }

  /** Passes the usage to plugins. Each of them may end the session. */
  async #count(): Promise<void> {
    if (this.#isCounting) return;
    this.#isCounting = true;
    while (this.#isUncounted && !this.#over) {
      this.#isUncounted = false;
      await this.#heed(() => this.#given.counted());
    }
    this.#isCounting = false;
  }

  async #askWhetherToGoOn(): Promise<void> {
    this.#isLooking = true;
    await this.#heed(() => this.#given.looked());
    this.#isLooking = false;
  }

  /** Ends the session with the error that plugins give, or with what one of them threw. */
  async #heed(ask: () => Maybe<GatewayError | null>): Promise<void> {
    try {
      const error = await ask();
      if (error) this.#finish(mayNotGoOn(error));
    } catch (thrown) {
      this.#finish(pluginFailed(thrown));
    }
  }

  #checkpoint(): void {
    this.#recordedAtMs = this.#clock.elapsed();
    this.#isUnrecorded = false;
    this.#fill(null);
    this.#given.checkpoint();
  }

  /** Stores the data for the record in the context. */
  #fill(closing: Closing | null): void {
    const { ctx } = this.#given;
    ctx.requestBytes = this.#client.bytes;
    ctx.replyBytes = this.#provider.bytes;
    ctx.usage = closing === null ? this.#used() : this.#usedAtEnd();
    ctx.session = {
      messagesFromClient: this.#client.messages,
      messagesFromProvider: this.#provider.messages,
      closeCode: closing?.code ?? null,
      closedBy: closing?.closedBy ?? null,
      ...this.#usage?.responses(),
    };
  }

  #isDead(side: Side, nowMs: number): boolean {
    // A paused side is not read, so its heartbeats cannot arrive.
    if (side.reading.isPaused) return false;
    if (nowMs - side.receivedAtMs >= deadAfterMs) return true;
    if (nowMs - side.pingedAtMs < pingEveryMs) return false;
    side.pingedAtMs = nowMs;
    side.socket.ping();
    return false;
  }

  /** Records the end and closes the sides that are still connected. Only the first call has an effect. */
  #finish(closing: Closing): void {
    if (this.#over) return;
    this.#over = true;
    for (const side of [this.#client, this.#provider]) side.inspection?.stop();
    this.#fill(closing);
    const outcome: SessionOutcome = { kind: closing.kind, error: closing.error };
    this.#given.end(outcome, () => {
      this.#part(this.#client, this.#provider, closing.toClient);
      this.#part(this.#provider, this.#client, closing.toProvider);
    });
  }

  /** Sends the close frame to `side`, after the messages of `other`. */
  #part(side: Side, other: Side, farewell: Farewell): void {
    if (side.closed) return;
    if (farewell === 'cut') return side.socket.terminate();
    if (farewell.patient) other.relay.flush();
    side.socket.close(farewell.code, farewell.reason);
    if (!farewell.patient) setTimeout(() => side.socket.terminate(), farewellMs).unref();
  }
}

const openBrace = 123;
