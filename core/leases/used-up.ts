import type { Clock } from '../contract/values/time/clock.ts';

/** Time for which a limit without free or held units counts as used up before the ledger is asked again. */
const emptyMs = 200;

/** Remembers for a short time that the ledger has too few units for a call. */
export class UsedUp {
  readonly #clock: Clock;
  #untilMs = 0;
  #from = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True if a call that needs at least `units` gets none. */
  isFor(units: number): boolean {
    return units >= this.#from && this.#clock.elapsed() < this.#untilMs;
  }

  /** A call that needs `units` got none. `endMs`: end of the window, on the wall clock. */
  note(units: number, endMs: number): void {
    this.#untilMs = this.#clock.elapsed() + Math.min(emptyMs, Math.max(1, endMs - this.#clock.now()));
    this.#from = units;
  }

  forget(): void {
    this.#untilMs = 0;
  }
}
