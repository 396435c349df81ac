import type { Flushable, TurnClock } from './event-loop-turns.ts';

/**
 * Limits how many requests start in one turn of the event loop; the others start in the next turns, in order of arrival. The addon reads all
 * clients that are ready before Node reads the providers. Without the limit the first reply of a burst waits until the last request of the
 * burst has been sent to its provider.
 */
export class StartQueue implements Flushable {
  readonly #clock: TurnClock;
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #turn = -1;
  #started = 0;

  constructor(clock: TurnClock, perTurn: number) {
    this.#clock = clock;
    this.#perTurn = perTurn;
  }

  /** Counts a request and returns true if it starts in this turn. Otherwise pass it to `later`. Call it in a turn that the clock has marked. */
  mayStart(): boolean {
    if (this.#turn !== this.#clock.now) {
      this.#turn = this.#clock.now;
      this.#started = 0;
    }
    if (this.#waiting.length > 0 || this.#started >= this.#perTurn) return false;
    this.#started++;
    return true;
  }

  /** Calls `start`, which must not throw, in one of the next turns. */
  later(start: () => void): void {
    if (this.#waiting.length === 0) this.#clock.defer(this);
    this.#waiting.push(start);
  }

  flush(): void {
    const due = this.#waiting.splice(0, this.#perTurn);
    this.#started = 0;
    if (this.#waiting.length > 0) this.#clock.defer(this);
    for (const start of due) start();
  }
}
