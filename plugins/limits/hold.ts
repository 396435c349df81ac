import type { ReservationRecord } from '../../core/contract/plugin/record.ts';
import type { BudgetRules } from '../../core/contract/protocol/budget-rules.ts';
import type { BudgetSpec } from '../../core/contract/protocol/leases.ts';
import type { Meter } from './meters.ts';

/**
 * Units that one request has taken from one meter. `lease` is null if the ledger was unavailable and the request was admitted.
 */
export interface Hold {
  readonly meter: Meter;
  /** Taken and not used; below 0: used and not taken. */
  units: number;
  startMs: number;
  lease: string | null;
  /** Units of all that the request has used, as far as it was looked at. */
  counted: number;
  /** The part of it that was used of this lease. */
  used: number;
}

/** The request has used so many units by now, all in all. */
export function use(hold: Hold, total: number): void {
  const more = total - hold.counted;
  hold.counted = total;
  hold.used += more;
  hold.units -= more;
}

/** Puts back what was not used. */
export function giveUp({ meter, units, startMs, lease }: Hold): void {
  if (lease === null) return;
  meter.account.put(units, startMs, lease);
  meter.account.release(lease);
}

/** Ends the hold of a request that stays counted, and returns what the record reports of it. */
export function keep(hold: Hold): ReservationRecord[] {
  if (hold.lease === null) return [];
  hold.meter.account.release(hold.lease);
  return [counted(hold)];
}

/** Returns what the record reports of a counted request. */
export function counted(hold: Hold): ReservationRecord {
  return reservationOf(hold, hold.units);
}

/** Returns what the record reports of a limit: `units` of the lease were used. */
export function reservationOf({ meter, startMs, lease, used }: Hold, units = used): ReservationRecord {
  const { spec, key } = meter.account;
  if (lease !== null) return { key, lease, startMs, units: Math.max(0, units) };
  return { key, lease, startMs, units: 0, ...(spec.kind === 'budget' ? { budget: rulesOf(spec) } : undefined) };
}

function rulesOf({ kind: _kind, key: _key, organisationId: _organisationId, ...rules }: BudgetSpec): BudgetRules {
  return rules;
}
