import { performance } from 'node:perf_hooks';

/** An entry with a deadline. The wheel sets every field but `expire`. */
export interface Timed {
  /** Neighbours in its slot. Null while it is not on the wheel. */
  next: Timed | null;
  previous: Timed | null;
  /** The tick at which it is checked. */
  tick: number;
  /**
   * Called at or after the deadline, never before, on a turn of its own after pending I/O. Returns the time of the next call
   * (monotonic milliseconds), or 0 if there is none. A deadline that is moved repeatedly therefore costs nothing until it is
   * checked.
   */
  expire(nowMs: number): number;
}

/**
 * One coarse timer wheel for all deadlines of the process: setting, moving and clearing one is a few pointer writes, where
 * `setTimeout` costs an object and a list operation in the runtime each time. Deadlines are met within `tickMs` + one turn.
 * The wheel turns only while something is on it and never keeps the process alive.
 */
export class Deadlines {
  readonly #slots: Slot[];
  readonly #onError: (error: unknown) => void;
  #currentTick = 0;
  #count = 0;
  #emptyTurns = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(onHandlerError: (error: unknown) => void) {
    this.#onError = onHandlerError;
    this.#slots = Array.from({ length: slotCount }, newSlot);
  }

  /** Adds it to the wheel. It must not be on it. Deadlines beyond one revolution are checked once per revolution. */
  schedule(entry: Timed, dueMs: number): void {
    if (this.#timer === null) this.#start();
    const furthest = this.#currentTick + slotCount - 1;
    let tick = Math.ceil(dueMs / tickMs);
    if (tick <= this.#currentTick) tick = this.#currentTick + 1;
    else if (tick > furthest) tick = furthest;
    const slot = this.#slots[tick & (slotCount - 1)] as Slot;
    entry.tick = tick;
    entry.next = slot;
    entry.previous = slot.previous;
    slot.previous.next = entry;
    slot.previous = entry;
    this.#count++;
  }

  /** Ensures that it is checked no later than `dueMs`. A later time needs no call: see `Timed.expire`. */
  hasten(entry: Timed, dueMs: number): void {
    if (entry.next !== null) {
      if (Math.ceil(dueMs / tickMs) >= entry.tick) return;
      this.cancel(entry);
    }
    this.schedule(entry, dueMs);
  }

  /** Removes it from the wheel. Safe to call twice. */
  cancel(entry: Timed): void {
    if (entry.next === null) return;
    (entry.previous as Timed).next = entry.next;
    entry.next.previous = entry.previous;
    entry.next = null;
    entry.previous = null;
    this.#count--;
  }

  #start(): void {
    this.#currentTick = Math.floor(performance.now() / tickMs);
    this.#emptyTurns = 0;
    // The turn waits for the check phase, so that data that arrived during a stall is read before anything times out.
    this.#timer = setInterval(() => setImmediate(this.#turn), tickMs);
    this.#timer.unref();
  }

  readonly #turn = (): void => {
    const nowMs = performance.now();
    const target = Math.floor(nowMs / tickMs);
    // After a stall of more than a revolution every slot is due, once.
    if (target - this.#currentTick > slotCount) this.#currentTick = target - slotCount;
    while (this.#currentTick < target) {
      this.#currentTick++;
      const slot = this.#slots[this.#currentTick & (slotCount - 1)] as Slot;
      while (slot.next !== slot) this.#look(slot.next, nowMs);
    }
    this.#emptyTurns = this.#count === 0 ? this.#emptyTurns + 1 : 0;
    if (this.#emptyTurns > emptyTurnsMax && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  };

  #look(entry: Timed, nowMs: number): void {
    this.cancel(entry);
    try {
      const dueMs = entry.expire(nowMs);
      if (dueMs > 0 && entry.next === null) this.schedule(entry, dueMs);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** The ring's own element: its neighbours are never null. */
interface Slot extends Timed {
  next: Timed;
  previous: Timed;
}

function newSlot(): Slot {
  const slot = { next: null, previous: null, tick: 0, expire: () => 0 } as unknown as Slot;
  slot.next = slot;
  slot.previous = slot;
  return slot;
}

const tickMs = 20;
/** A power of two; one revolution is 5.12 s. */
const slotCount = 256;
/** One second without a deadline stops the timer. */
const emptyTurnsMax = 50;
