import { GatewayError } from '../errors/errors.ts';
import { BodyIntake } from './body-intake.ts';

/** Requests for at most this many bytes may use the whole bound. */
const smallBytes = 64 * 1024;

/**
 * The bound on all bodies that one process holds at a time: request bodies that are read whole, their parsed values, replies that
 * are read before they are sent, and unfinished events of streams. Streamed bodies do not count. A request that would exceed the
 * bound is rejected before memory grows.
 */
export class BodyMemory {
  readonly bytesMax: number;
  /** Holds back bodies that arrive faster than the event loop can process them beside other requests. */
  readonly intake = new BodyIntake();
  usedBytes = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /**
   * Counts bytes about to be held. An eighth of the bound is reserved for requests of at most 64 KiB, so that large bodies do not
   * block small requests. Throws GatewayError `overloaded`.
   */
  take(bytes: number): void {
    const bytesMax = bytes > smallBytes ? this.bytesMax * 0.875 : this.bytesMax;
    if (this.usedBytes + bytes > bytesMax) {
      throw new GatewayError('overloaded', {
        message: 'The gateway has no memory for further bodies (BODY_MEMORY_MAX). Try again shortly',
        retryAfterMs: 1000,
      });
    }
    this.usedBytes += bytes;
  }

  /** Releases bytes that were counted. */
  give(bytes: number): void {
    this.usedBytes -= bytes;
  }

  /**
   * Waits for a turn of the event loop in which no other step of a large body runs, so that other requests run between two steps.
   * Callers continue in the order in which they called.
   */
  turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#lastTurn;
  }
}
