import { limitUnitsMax } from '../contract/protocol/limits/budget-rules.ts';
import type { BudgetSpec } from '../contract/protocol/limits/leases.ts';

/** Minimum amount of a request to the ledger, so that one request serves several calls. */
export const wantMin = { rate: 8, budget: 5_000 } as const;
/** A lease ends this long before it ends in the ledger, so that no unit is spent twice. */
export const leaseMarginMs = 5_000;

/**
 * A share of one limit, as the ledger counts it. `held` is everything granted less everything given back: units in hand, units
 * of calls in flight, and units that records report. The ledger subtracts what records report, so `held` less the settled units is what
 * this process still holds. It is negative after a call used more than it took, until the ledger covers that.
 */
export class Lease {
  readonly id: string;
  held = 0;
  /** Requests in progress that have taken units from it. */
  holds = 0;
  #seq = 0;
  /** The ledger's figure for `held`. Null: unknown, because a request may or may not have arrived. */
  #reported: number | null = 0;
  #asked = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Returns the lease's part of a question to the ledger. */
  ask(): { lease: string; seq: number; kept: number } {
    this.#reported = null;
    this.#asked = this.held;
    // Limited to what a request can hold, because it is shared with other budgets.
    return { lease: this.id, seq: ++this.#seq, kept: Math.min(Math.max(0, this.held), limitUnitsMax) };
  }

  /** The ledger replied with this many units. */
  granted(units: number): void {
    this.#reported = this.#asked + units;
    this.held += units;
  }

  /** Resets the lease to the units just granted: the ledger has begun a new window, or has dropped the lease. */
  beginAnew(): void {
    this.held = 0;
    this.#reported = 0;
    this.#asked = 0;
  }

  /** True while the ledger's figure differs from `held`. */
  get isUnreported(): boolean {
    return this.#reported !== this.held;
  }

  /** True when nothing more has to be reported about a lease that was left. */
  get isOver(): boolean {
    return this.holds === 0 && !this.isUnreported;
  }
}

/** Returns a key of the rules that determine when a budget resets. */
export function rulesOf(spec: BudgetSpec): string {
  return [spec.periodicReset, spec.periodicResetDays, spec.nextUsageResetAt, spec.resetAt].join(' ');
}
