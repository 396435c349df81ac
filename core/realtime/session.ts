import { GatewayError } from '../contract/errors.ts';
import type { Clock } from '../contract/plugin.ts';
import type { SessionRecord } from '../contract/record.ts';
import { closeCodes, type FrameSocket, type SessionOutcome, type SessionStart } from '../contract/web-socket.ts';
import { type Closing, closingOfClient, closingOfProvider, type Farewell } from './closing.ts';
import { Relay } from './relay.ts';
import { SessionUsage } from './session-usage.ts';

export interface SessionLimits {
  /** Longest silence of both sides, milliseconds; 0 = no limit. */
  readonly idleMs: number;
  /** Longest session, milliseconds; 0 = no limit. */
  readonly totalMs: number;
  /** Bytes that may wait for one side before the session is ended, for a sender that does not stop when it is told to. */
  readonly bufferedBytesMax: number;
}

const pingEveryMs = 30_000;
/** A side that answers nothing for this long is gone. */
const deadAfterMs = 75_000;
/** How long the provider may take to answer the close frame that follows a client which is gone. */
const farewellMs = 1000;

/** One side as the session sees it. */
interface Side {
  readonly socket: FrameSocket;
  /** What it sends, on its way to the other. */
  readonly relay: Relay;
  messages: number;
  bytes: number;
  heardAtMs: number;
  pingedAtMs: number;
  closed: boolean;
}

/**
 * One session: messages pass between client and provider as they are, each way only as fast as its receiver takes them, and what the
 * provider says of tokens is added up. Whoever closes first decides how the session ended; it is recorded then, once, and the
 * other side is closed after the record is safe.
 */
export class Session {
  readonly #given: SessionStart;
  readonly #limits: SessionLimits;
  readonly #clock: Clock;
  readonly #closed: () => void;
  readonly #client: Side;
  readonly #provider: Side;
  readonly #usage: SessionUsage | null;
  readonly #startedAtMs: number;
  #activeAtMs: number;
  #over = false;

  /** `closed` is called once, when both sockets are. */
  constructor(given: SessionStart, limits: SessionLimits, clock: Clock, closed: () => void) {
    this.#given = given;
    this.#limits = limits;
    this.#clock = clock;
    this.#closed = closed;
    this.#startedAtMs = clock.elapsed();
    this.#activeAtMs = this.#startedAtMs;
    this.#client = sideOf(given.client, given.provider, this.#startedAtMs);
    this.#provider = sideOf(given.provider, given.client, this.#startedAtMs);
    this.#usage = given.readUsage === null ? null : new SessionUsage(given.readUsage);
  }

  start(): void {
    this.#listen(this.#client, this.#provider, (data) => data, closingOfClient);
    this.#listen(this.#provider, this.#client, (data, isBinary) => this.#fromProvider(data, isBinary), closingOfProvider);
    this.#client.socket.resume();
    this.#provider.socket.resume();
  }

  /** Looks at the clock: limits, and whether both sides are still there. */
  look(nowMs: number): void {
    if (this.#over) return;
    const { idleMs, totalMs } = this.#limits;
    if (totalMs > 0 && nowMs - this.#startedAtMs >= totalMs)
      return this.#finish(goingAway('The session has reached its time limit'));
    if (idleMs > 0 && nowMs - this.#activeAtMs >= idleMs) return this.#finish(goingAway('The session was idle for too long'));
    if (this.#isDead(this.#client, nowMs)) return this.#client.socket.terminate();
    if (this.#isDead(this.#provider, nowMs)) return this.#provider.socket.terminate();
  }

  /** The process stops. */
  goAway(): void {
    this.#finish({ ...goingAway('The gateway is shutting down'), kind: 'cut', error: new GatewayError('draining') });
  }

  /** Waits for nobody any more. */
  terminate(): void {
    this.#client.socket.terminate();
    this.#provider.socket.terminate();
  }

  #listen(
    from: Side,
    to: Side,
    pass: (data: Uint8Array, isBinary: boolean) => Uint8Array | null,
    closingOf: (code: number, reason: string, byRule: boolean) => Closing,
  ): void {
    from.socket.listen({
      onMessage: (data, isBinary) => {
        if (this.#over) return;
        from.messages++;
        from.bytes += data.length;
        from.heardAtMs = this.#clock.elapsed();
        this.#activeAtMs = from.heardAtMs;
        const passed = pass(data, isBinary);
        if (passed === null || this.#over) return;
        from.relay.pass(passed, isBinary);
        if (from.relay.waitingBytes > this.#limits.bufferedBytesMax) {
          this.#finish(tooSlow(to === this.#client ? 'client' : 'provider'));
        }
      },
      // `from` takes bytes again: what `to` sends can go on.
      onDrain: () => this.#goOn(to),
      onPong: () => {
        from.heardAtMs = this.#clock.elapsed();
      },
      onClose: (code, reason, byRule) => {
        from.closed = true;
        this.#finish(closingOf(code, reason, byRule));
        if (to.closed) this.#closed();
      },
    });
  }

  #goOn(side: Side): void {
    if (!this.#over && side.relay.goOn()) side.heardAtMs = this.#clock.elapsed();
  }

  #fromProvider(data: Uint8Array, isBinary: boolean): Uint8Array | null {
    if (!isBinary) this.#usage?.take(data);
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

  #isDead(side: Side, nowMs: number): boolean {
    // What is not read cannot be heard.
    if (side.relay.paused) return false;
    if (nowMs - side.heardAtMs >= deadAfterMs) return true;
    if (nowMs - side.pingedAtMs < pingEveryMs) return false;
    side.pingedAtMs = nowMs;
    side.socket.ping();
    return false;
  }

  /** Records the end and closes whoever is still there. The first call counts. */
  #finish(closing: Closing): void {
    if (this.#over) return;
    this.#over = true;
    const { ctx } = this.#given;
    ctx.requestBytes = this.#client.bytes;
    ctx.replyBytes = this.#provider.bytes;
    ctx.usage = this.#usage?.total() ?? null;
    ctx.session = this.#record(closing);
    const outcome: SessionOutcome = { kind: closing.kind, error: closing.error };
    this.#given.end(outcome, () => {
      this.#part(this.#client, this.#provider, closing.toClient);
      this.#part(this.#provider, this.#client, closing.toProvider);
    });
  }

  /** Says farewell to `side`, behind what `other` had sent it. */
  #part(side: Side, other: Side, farewell: Farewell): void {
    if (side.closed) return;
    if (farewell === 'cut') return side.socket.terminate();
    if (farewell.patient) other.relay.flush();
    side.socket.close(farewell.code, farewell.reason);
    if (!farewell.patient) setTimeout(() => side.socket.terminate(), farewellMs).unref();
  }

  #record(closing: Closing): SessionRecord {
    return {
      messagesFromClient: this.#client.messages,
      messagesFromProvider: this.#provider.messages,
      closeCode: closing.code,
      closedBy: closing.closedBy,
    };
  }
}

function sideOf(socket: FrameSocket, other: FrameSocket, nowMs: number): Side {
  const relay = new Relay(socket, other);
  return { socket, relay, messages: 0, bytes: 0, heardAtMs: nowMs, pingedAtMs: nowMs, closed: false };
}

/** We end a session that did nothing wrong. */
function goingAway(reason: string): Closing {
  const farewell: Farewell = { code: closeCodes.goingAway, reason, patient: true };
  return {
    code: closeCodes.goingAway,
    closedBy: 'gateway',
    kind: 'success',
    error: null,
    toClient: farewell,
    toProvider: farewell,
  };
}

function tooSlow(who: 'client' | 'provider'): Closing {
  const reason = `The ${who} does not take its messages as fast as they come`;
  const farewell: Farewell = { code: closeCodes.tryAgainLater, reason, patient: false };
  const error = new GatewayError('overloaded', { message: reason });
  return { code: closeCodes.tryAgainLater, closedBy: 'gateway', kind: 'cut', error, toClient: farewell, toProvider: farewell };
}

function pluginFailed(cause: unknown): Closing {
  const error = new GatewayError('internal', { cause });
  const toClient: Farewell = { code: closeCodes.internal, reason: error.message, patient: true };
  const toProvider: Farewell = { code: closeCodes.goingAway, reason: '', patient: false };
  return { code: closeCodes.internal, closedBy: 'gateway', kind: 'cut', error, toClient, toProvider };
}
