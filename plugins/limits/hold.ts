import type { ReservationRecord } from '../../core/contract/plugin/record/record.ts';
import type { BudgetRules } from '../../core/contract/protocol/limits/budget-rules.ts';
import type { BudgetSpec } from '../../core/contract/protocol/limits/leases.ts';
import type { Meter } from './meters.ts';

/**
 * Units that one request has taken from one meter. `lease` is null if the ledger was unavailable and the request was admitted.
 */
export interface Hold {
  readonly meter: Meter;
  /** Units that were taken and not used. Negative: units that were used and not taken. */
  units: number;
  startMs: number;
  lease: string | null;
  /** Units that the whole request has used so far. */
  counted: number;
  /** The part of it that was used from this lease. */
  used: number;
}

/** Sets the total that the request has used so far. */
export function use(hold: Hold, total: number): void {
  const more = total - hold.counted;
  hold.counted = total;
  hold.used += more;
  hold.units -= more;
}

/** Gives unused units back. */
export function giveUp({ meter, units, startMs, lease }: Hold): void {
  if (lease === null) return;
  meter.account.put(units, startMs, lease);
  meter.account.release(lease);
}

/** Ends the hold of a request that stays counted, and returns the amount that the record reports. */
export function keep(hold: Hold): ReservationRecord[] {
  if (hold.lease === null) return [];
  hold.meter.account.release(hold.lease);
  return [counted(hold)];
}

/** Returns the amount that the record reports for a counted request. */
export function counted(hold: Hold): ReservationRecord {
  return reservationOf(hold, hold.units);
}

/** Returns the amount that the record reports for a limit: `units` of the lease were used. */
export function reservationOf({ meter, startMs, lease, used }: Hold, units = used): ReservationRecord {
  const { spec, key } = meter.account;
  if (lease !== null) return { key, lease, startMs, units: Math.max(0, units) };
  return { key, lease, startMs, units: 0, ...(spec.kind === 'budget' ? { budget: rulesOf(spec) } : undefined) };
}

function rulesOf({ kind: _kind, key: _key, organisationId: _organisationId, ...rules }: BudgetSpec): BudgetRules {
  return rules;
}
