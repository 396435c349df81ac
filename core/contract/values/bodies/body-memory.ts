import { GatewayError } from '../errors/errors.ts';
import { FairShares } from '../sharing/fair-shares.ts';
import { realTimers, type Timers } from '../time/timers.ts';
import { BodyIntake } from './body-intake.ts';
import { type BodyShare, BodyTurns } from './body-turns.ts';
import { LoopTurns } from './loop-turns.ts';
import { noBodyMemory, noMoreOfShare } from './no-body-memory.ts';

/** Requests for at most this many bytes may use the whole bound. */
const smallBytes = 64 * 1024;
/** A parsed and rewritten body counts three times: the received bytes, the parsed value, and the sent bytes. */
const countsPerBody = 3;

/**
 * The bound on all bodies that one process holds at a time: request bodies that are read whole, their parsed values, replies that are read
 * before they are sent, unfinished events of streams, and translated streams beyond 32 MiB. Other streamed bodies do not count. A request that
 * would exceed the bound is rejected before memory grows.
 */
export class BodyMemory {
  readonly bytesMax: number;
  /** Holds back bodies that arrive faster than the event loop can process them beside other requests, or than they are read. */
  readonly intake: BodyIntake;
  usedBytes = 0;
  /** Bytes that the requests of each owner hold. */
  readonly #owners = new FairShares();
  readonly #turns: BodyTurns;
  readonly #loopTurns = new LoopTurns();

  constructor(bytesMax: number, timers: Timers = realTimers) {
    this.bytesMax = bytesMax;
    this.intake = new BodyIntake(bytesMax);
    this.#turns = new BodyTurns(() => this.largeBytesMax - this.usedBytes, this.#owners, timers);
  }

  /** Bytes that bodies of over 64 KiB may use. An eighth is reserved for small ones, so that large bodies do not block them. */
  get largeBytesMax(): number {
    return this.bytesMax * 0.875;
  }

  /**
   * Counts bytes about to be held. `heldBytes` are those that a request has taken so far for its own body. Throws GatewayError
   * `overloaded`, or `body_too_large` if the body of the request alone needs more than the bound. `owner` is the workspace of the request.
   */
  take(bytes: number, owner: string, heldBytes = Number.NEGATIVE_INFINITY): void {
    const bytesMax = bytes > smallBytes ? this.largeBytesMax : this.bytesMax;
    if (heldBytes + bytes > bytesMax) throw tooLarge(this.bytesMax);
    if (this.usedBytes + bytes > bytesMax) throw noBodyMemory();
    this.usedBytes += bytes;
    this.#owners.add(owner, bytes);
  }

  /**
   * Throws GatewayError `overloaded` if bytes about to be taken are over the owner's share. The only request of an owner may use the whole bound;
   * `heldBytes` are all bytes that this request holds.
   */
  checkShare(bytes: number, owner: string, heldBytes: number): void {
    if (this.#owners.heldBy(owner) === heldBytes) return;
    const bytesMax = bytes > smallBytes ? this.largeBytesMax : this.bytesMax;
    if (this.#owners.exceeds(owner, bytes, bytesMax - this.usedBytes - bytes)) throw noMoreOfShare();
  }

  /** Releases bytes that were counted. */
  give(bytes: number, owner: string): void {
    this.usedBytes -= bytes;
    this.#owners.add(owner, -bytes);
    this.#turns.startNext();
  }

  /** True if a body of this length waits for its turn: over 64 KiB, and of known length (not -1). */
  isLarge(length: number): boolean {
    return length > smallBytes;
  }

  /**
   * Waits until a request body of this length is expected to fit beside the others. Owners take turns, and the bodies of one are admitted in
   * order of arrival. Many large bodies that arrive together would otherwise each take a part of the memory, and most or all would be
   * rejected. The bytes are still counted as they arrive. Throws GatewayError `overloaded` after 5 s, and `body_too_large` if the body can
   * never fit.
   */
  async admit(length: number, owner: string): Promise<BodyShare> {
    if (length > this.largeBytesMax) throw tooLarge(this.bytesMax);
    const share = await this.#turns.enter(Math.min(countsPerBody * length, this.largeBytesMax), owner);
    if (share === null) throw noBodyMemory();
    return share;
  }

  /** Waits until a step of a large body may run, so that other requests run between the steps. Callers continue in the order of their calls. */
  turn(): Promise<void> {
    return this.#loopTurns.next();
  }
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('body_too_large', {
    message: `Payload size exceeds the limit: the body with its parsed and its sent copy needs more than the ${bytesMax} bytes for bodies of one process (BODY_MEMORY_MAX)`,
  });
}
