import { performance } from 'node:perf_hooks';

/** A turn of the event loop begins no further step after this time. */
const turnMs = 2;

/**
 * Shares the turns of the event loop between steps of large bodies and all other requests. Each turn runs at least one step, and further ones until
 * `turnMs` have passed, in the order of the calls of `next`.
 */
export class LoopTurns {
  readonly #now: () => number;
  /** Those that wait, from `#first` on. */
  #waiting: (() => void)[] = [];
  #first = 0;
  #isScheduled = false;
  #until = 0;

  /** @param now monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when the caller may run one step. The step must be synchronous and follow at once. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(this.#begin);
    });
  }

  readonly #begin = (): void => {
    this.#until = this.#now() + turnMs;
    this.#runFirst();
  };

  readonly #runFirst = (): void => {
    this.#waiting[this.#first++]?.();
    // The step runs in the microtask before this one.
    queueMicrotask(this.#goOn);
  };

  readonly #goOn = (): void => {
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
      this.#isScheduled = false;
    } else if (this.#now() < this.#until) {
      this.#runFirst();
    } else {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
      setImmediate(this.#begin);
    }
  };
}
