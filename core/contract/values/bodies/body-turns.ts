import { createFairQueue } from '../sharing/fair-queue.ts';
import { FairShares, isOverShare } from '../sharing/fair-shares.ts';
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
  readonly owner: string;
  readonly bytes: number;
  readonly start: (share: BodyShare | null) => void;
  readonly stopTimer: () => void;
}

/** Lets owners admit large bodies in turns, so that those that have begun find the memory that they need. */
export class BodyTurns {
  readonly #timers: Timers;
  /** Bytes that are not held. */
  readonly #unheldBytes: () => number;
  readonly #held: FairShares;
  /** Parts of the shares that have not arrived. */
  readonly #kept = new FairShares();
  /** Sum of all shares. */
  #sharedBytes = 0;
  readonly #waiting = createFairQueue<WaitingBody>();

  constructor(unheldBytes: () => number, held: FairShares, timers: Timers) {
    this.#unheldBytes = unheldBytes;
    this.#held = held;
    this.#timers = timers;
  }

  /** Bytes that are neither held nor kept free for a body. */
  #freeBytes(): number {
    return this.#unheldBytes() - this.#sharedBytes;
  }

  /** True if another body would be over the share of its owner. The only body of an owner may use the whole bound. */
  #isOverShare({ owner, bytes }: Pick<WaitingBody, 'owner' | 'bytes'>): boolean {
    const others = this.#held.heldBy(owner) + this.#kept.heldBy(owner);
    return others > 0 && isOverShare(others + bytes, this.#freeBytes() - bytes);
  }

  /** Returns the next body whose turn it is. Those of owners that hold their share are passed over. */
  #next(): WaitingBody | undefined {
    return this.#waiting.peek((body) => this.#isOverShare(body));
  }

  /**
   * Waits until this many bytes are free and no earlier body waits. After 5 s it returns an empty share if the bytes are kept free for bodies
   * that do not arrive, and null if they are held, or if they would be over the share of the owner.
   */
  enter(bytes: number, owner: string): BodyShare | Promise<BodyShare | null> {
    const asked = { bytes, owner };
    const isFirst = !this.#waiting.has(owner) && this.#next() === undefined;
    if (isFirst && !this.#isOverShare(asked) && this.#freeBytes() >= bytes) return this.#share(asked);
    return new Promise((resolve) => {
      const stopTimer = this.#timers.after(patienceMs, () => {
        this.#waiting.remove(body);
        const unheld = this.#unheldBytes();
        const isKept = unheld >= bytes && !(this.#held.heldBy(owner) > 0 && this.#held.exceeds(owner, bytes, unheld - bytes));
        resolve(isKept ? this.#share({ bytes: 0, owner }) : null);
        this.startNext();
      });
      const body: WaitingBody = { ...asked, start: resolve, stopTimer };
      this.#waiting.add(body);
    });
  }

  /** Starts the next bodies for which there is room. */
  startNext(): void {
    if (this.#waiting.length === 0) return;
    for (let next = this.#next(); next && this.#freeBytes() >= next.bytes; next = this.#next()) {
      this.#waiting.take(next);
      next.stopTimer();
      next.start(this.#share(next));
    }
  }

  #share({ bytes, owner }: Pick<WaitingBody, 'owner' | 'bytes'>): BodyShare {
    let left = bytes;
    this.#sharedBytes += bytes;
    this.#kept.add(owner, bytes);
    const use = (used: number): void => {
      const taken = Math.min(used, left);
      left -= taken;
      this.#sharedBytes -= taken;
      this.#kept.add(owner, -taken);
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
