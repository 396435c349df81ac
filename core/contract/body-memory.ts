import { GatewayError } from './errors.ts';

/**
 * The bound on all bodies one process holds at a time: request bodies that are read whole, and replies that are read before they are
 * sent. What streams through does not count. Reaching it refuses the newcomer, before memory grows.
 */
export class BodyMemory {
  readonly bytesMax: number;
  usedBytes = 0;

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
}
