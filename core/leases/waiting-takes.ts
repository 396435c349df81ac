import { partsMax } from '../contract/protocol/limits/leases.ts';
import type { Clock } from '../contract/values/time/clock.ts';

/** Maximum time that a call waits for units that other processes hold. */
const patienceMs = 900;

interface Waiting {
  readonly least: number;
  readonly most: number;
  /** Monotonic time at which its wait ends. */
  readonly untilMs: number;
  /** True if the last request to the ledger included it. */
  isAsked: boolean;
  readonly resolve: (taken: number) => void;
}

/** Calls that wait for units of one limit, in order of arrival. */
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

  /** Returns the amounts for a request to the ledger, in order, and marks their calls as asked for. */
  ask(): number[] {
    return this.#all.slice(0, partsMax).map((waiting) => {
      waiting.isAsked = true;
      return Math.max(1, waiting.least);
    });
  }

  /** Returns the sum of the least amounts of the calls that `available` can serve, in order. */
  servable(available: number): number {
    let units = 0;
    for (const { least } of this.#all) {
      const amount = Math.max(1, least);
      if (units + amount <= available) units += amount;
    }
    return units;
  }

  /** Marks all calls as not part of the next request. */
  askNothing(): void {
    for (const waiting of this.#all) waiting.isAsked = false;
  }

  /** Ends the wait of the calls for which `verdict` returns a result of `take`. Null keeps them waiting. */
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
}
