import type { Clock } from '../contract/values/time/clock.ts';

/** Pause between requests while other processes hold units that may be returned. */
const paceMs = 25;
/** Pauses between the requests for a call that waits for other processes. Each is twice as long as the one before. */
const repeatMs = { first: 20, most: 80 } as const;
/** Time after a sent or received recall during which the process holds only the units that calls need. */
const exactMs = 1_000;
/** Time for which units of processes that did not react to a recall are not waited for. */
const deafMs = 5_000;

/** Pauses and recalls of one limit while several processes need its units. Times are monotonic. */
export class Contention {
  readonly #clock: Clock;
  #askFromMs = 0;
  #repeatMs: number = repeatMs.first;
  #exactUntilMs = 0;
  /** Time of the first recall for the requests that are waiting now. */
  #recalledAtMs: number | null = null;
  #deaf = { units: 0, untilMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while the process holds only the units that calls need. */
  get isExact(): boolean {
    return this.#clock.elapsed() < this.#exactUntilMs;
  }

  /** Time until units for calls may be requested; 0 = now. Units are returned at any time. */
  get pauseMs(): number {
    return Math.max(0, this.#askFromMs - this.#clock.elapsed());
  }

  /** Time since the first recall for the waiting calls; undefined: there was none. */
  get recalledMs(): number | undefined {
    return this.#recalledAtMs === null ? undefined : Math.round(this.#clock.elapsed() - this.#recalledAtMs);
  }

  /** Another process has recalled units. */
  recalled(): void {
    this.#exactUntilMs = this.#clock.elapsed() + exactMs;
  }

  /** This process recalls units of others for its waiting calls. Requests pause, each time for longer. */
  recall(): void {
    const nowMs = this.#clock.elapsed();
    this.#recalledAtMs ??= nowMs;
    this.#exactUntilMs = nowMs + exactMs;
    this.#askFromMs = nowMs + this.#repeatMs;
    this.#repeatMs = Math.min(2 * this.#repeatMs, repeatMs.most);
  }

  /** The request to the ledger failed. */
  forgetRecall(): void {
    this.#recalledAtMs = null;
  }

  /** No call waits for other processes any more. */
  settled(): void {
    this.#recalledAtMs = null;
    this.#repeatMs = repeatMs.first;
  }

  /** A call was rejected although others hold units. */
  pace(): void {
    this.#askFromMs = this.#clock.elapsed() + paceMs;
  }

  /** Returns how many of the units that others may return are worth a wait. */
  expectedOf(pending: number): number {
    return this.#clock.elapsed() < this.#deaf.untilMs ? Math.max(0, pending - this.#deaf.units) : pending;
  }

  /** Others have not returned these units in time. */
  gaveUpOn(pending: number): void {
    this.#deaf = { units: pending, untilMs: this.#clock.elapsed() + deafMs };
  }
}
