import type { Timers } from '../time/timers.ts';

/**
 * Maximum wait of a large body for its turn. Also the time after which the share of a body that has not arrived is free again, so that
 * clients that announce bodies and do not send them do not hold memory. uWebSockets.js closes connections that receive nothing for 10 s.
 */
const patienceMs = 5_000;

/** Memory that is kept free for one body until it has arrived. */
export interface BodyShare {
  /** Reduces the share by bytes that were counted. */
  use(bytes: number): void;
  /** Ends the share: the body is sent, or its request has ended. Safe to call twice. */
  end(): void;
}

interface WaitingBody {
  readonly bytes: number;
  readonly start: (share: BodyShare | null) => void;
  readonly stopTimer: () => void;
}

/** Lets large bodies arrive in their order, so that those that have begun find the memory that they need. */
export class BodyTurns {
  readonly #timers: Timers;
  /** Bytes that are not held. */
  readonly #unheldBytes: () => number;
  /** Sum of all shares. */
  #sharedBytes = 0;
  readonly #waiting: WaitingBody[] = [];

  constructor(unheldBytes: () => number, timers: Timers) {
    this.#unheldBytes = unheldBytes;
    this.#timers = timers;
  }

  /** Bytes that are neither held nor kept free for a body. */
  #freeBytes(): number {
    return this.#unheldBytes() - this.#sharedBytes;
  }

  /**
   * Waits until this many bytes are free and no earlier body waits. After 5 s it returns an empty share if the bytes are kept free for bodies
   * that do not arrive, and null if they are held.
   */
  enter(bytes: number): BodyShare | Promise<BodyShare | null> {
    if (this.#waiting.length === 0 && this.#freeBytes() >= bytes) return this.#share(bytes);
    return new Promise((resolve) => {
      const stopTimer = this.#timers.after(patienceMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(body), 1);
        resolve(this.#unheldBytes() >= bytes ? this.#share(0) : null);
        this.startNext();
      });
      const body: WaitingBody = { bytes, start: resolve, stopTimer };
      this.#waiting.push(body);
    });
  }

  /** Starts the next bodies for which there is room. */
  startNext(): void {
    for (let next = this.#waiting[0]; next && this.#freeBytes() >= next.bytes; next = this.#waiting[0]) {
      this.#waiting.shift();
      next.stopTimer();
      next.start(this.#share(next.bytes));
    }
  }

  #share(bytes: number): BodyShare {
    let left = bytes;
    this.#sharedBytes += bytes;
    const use = (used: number): void => {
      const taken = Math.min(used, left);
      left -= taken;
      this.#sharedBytes -= taken;
    };
    const end = (): void => {
      stopTimer();
      if (left === 0) return;
      use(left);
      this.startNext();
    };
    const stopTimer = this.#timers.after(patienceMs, end);
    return { use, end };
  }
}
