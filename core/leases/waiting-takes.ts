import { partsMax } from '../contract/protocol/leases.ts';
import type { Clock } from '../contract/values/clock.ts';

/** Longest wait of a request for units that other processes hold. */
const patienceMs = 900;

interface Waiting {
  readonly least: number;
  readonly most: number;
  /** Monotonic time at which its wait ends. */
  readonly untilMs: number;
  /** True when the question that was answered last asked for it. */
  isAsked: boolean;
  readonly resolve: (taken: number) => void;
}

/** Requests that wait for units of one limit, in the order they came. */
export class WaitingTakes {
  readonly #clock: Clock;
  #all: Waiting[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#all.length;
  }

  add(least: number, most: number): Promise<number> {
    return new Promise((resolve) => {
      this.#all.push({ least, most, untilMs: this.#clock.elapsed() + patienceMs, isAsked: false, resolve });
    });
  }

  /** Returns the amounts that a question must ask for, in order, and marks their requests as asked for. */
  ask(): number[] {
    return this.#all.slice(0, partsMax).map((waiting) => {
      waiting.isAsked = true;
      return Math.max(1, waiting.least);
    });
  }

  /** Returns the units that the least amounts of those need who can be served out of `available`, in order. */
  servable(available: number): number {
    let units = 0;
    for (const { least } of this.#all) {
      const amount = Math.max(1, least);
      if (units + amount <= available) units += amount;
    }
    return units;
  }

  /** The next question asks for none of them. */
  askNothing(): void {
    for (const waiting of this.#all) waiting.isAsked = false;
  }

  /** Ends the wait of those for which `verdict` returns what `take` returns; null keeps them. */
  judge(verdict: (waiting: Waiting) => number | null): void {
    const all = this.#all;
    this.#all = [];
    const remaining: Waiting[] = [];
    for (const waiting of all) {
      const taken = verdict(waiting);
      if (taken === null) remaining.push(waiting);
      else waiting.resolve(taken);
    }
    this.#all = [...remaining, ...this.#all];
  }

  endAll(taken: number): void {
    this.judge(() => taken);
  }
}
