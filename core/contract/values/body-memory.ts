import { GatewayError } from './errors.ts';

/**
 * The bound on all bodies one process holds at a time: request bodies that are read whole, their parsed values, replies that are read
 * before they are sent, and unfinished events of streams. Bodies that stream through do not count. A request that would exceed the
 * bound is refused before memory grows.
 */
export class BodyMemory {
  readonly bytesMax: number;
  usedBytes = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Counts bytes about to be held. Throws GatewayError `overloaded`. */
  take(bytes: number): void {
    if (this.usedBytes + bytes > this.bytesMax) {
      throw new GatewayError('overloaded', {
        message: 'The gateway holds as many request and reply bodies as it may; try again shortly',
        retryAfterMs: 1000,
      });
    }
    this.usedBytes += bytes;
  }

  /** Gives bytes back that were taken. */
  give(bytes: number): void {
    this.usedBytes -= bytes;
  }

  /**
   * Waits for a turn of the event loop in which no other large body is parsed or written, so that other requests run between two of
   * them. Callers continue in the order in which they called.
   */
  turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#lastTurn;
  }
}
