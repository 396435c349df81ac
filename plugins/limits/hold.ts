import type { BudgetRules } from '../../core/contract/budget-rules.ts';
import type { BudgetSpec } from '../../core/contract/leases.ts';
import type { ReservationRecord } from '../../core/contract/record.ts';
import type { Meter } from './meters.ts';

/** Units one request has taken from one meter. `lease` null of a budget: the ledger could not be asked and the request was let through. */
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
  if (meter.isBudget && lease === null) return;
  meter.account.put(units, startMs, lease);
  if (lease !== null) meter.account.release(lease);
}

/** What the record tells of a budget that was spent from. */
export function reservationOf({ meter, startMs, lease, used }: Hold): ReservationRecord {
  const { spec, key } = meter.account;
  if (lease !== null) return { key, lease, startMs, units: Math.max(0, used) };
  return { key, lease, startMs, units: 0, ...(spec.kind === 'budget' ? { budget: rulesOf(spec) } : undefined) };
}

function rulesOf({ kind: _kind, key: _key, organisationId: _organisationId, ...rules }: BudgetSpec): BudgetRules {
  return rules;
}
