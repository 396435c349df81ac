import type { RequestRecord } from '../../core/contract/record.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { BudgetRow } from './budget-ledger.ts';
import { markExhausted } from './entity-state.ts';

/** A record that was stored just now, with what it cost. */
export interface Settled {
  readonly record: RequestRecord;
  /** Micro-USD; null: not known, which counts as nothing. */
  readonly cost: number | null;
}

/** What one record means to one budget. */
interface Entry {
  readonly startMs: number;
  readonly lease: string | null;
  /** Units of the lease that the gateway counted as used. */
  readonly reserved: number;
  readonly tokens: number;
  readonly cost: number;
}

/**
 * Puts what requests have used in the place of what was reserved for them. Must run in the transaction that stores the records, so
 * that each counts once. Budgets that cross their threshold or their limit are marked.
 */
export async function settleRecords(tx: EntityManager, stored: readonly Settled[]): Promise<void> {
  const entries = entriesOf(stored);
  if (entries.size === 0) return;
  const rows = await tx.execute<BudgetRow[]>(
    `select * from limit_budgets where key in (select * from jsonb_array_elements_text(?::jsonb)) order by key for update`,
    [JSON.stringify([...entries.keys()])],
    'all',
  );
  const settledByLease = new Map<string, number>();
  for (const row of rows) {
    let used = 0;
    for (const entry of entries.get(row.key) ?? []) {
      // A request of a window that is over is not counted in the one after it.
      if (entry.startMs !== 0 && entry.startMs !== Number(row.start_ms)) continue;
      used += row.unit === 'tokens' ? entry.tokens : entry.cost;
      if (entry.lease !== null) settledByLease.set(entry.lease, (settledByLease.get(entry.lease) ?? 0) + entry.reserved);
    }
    if (used > 0) await addUsed(tx, row, used);
  }
  if (settledByLease.size === 0) return;
  const leases = [...settledByLease].map(([lease, units]) => ({ lease, units }));
  await tx.execute(
    `update limit_leases l set settled = l.settled + a.units
     from jsonb_to_recordset(?::jsonb) as a(lease uuid, units bigint) where l.lease = a.lease`,
    [JSON.stringify(leases)],
    'run',
  );
}

async function addUsed(tx: EntityManager, row: BudgetRow, units: number): Promise<void> {
  const before = Number(row.used);
  const after = before + units;
  const threshold = row.alert_threshold === null ? Number.POSITIVE_INFINITY : Number(row.alert_threshold);
  const crossed = (limit: number): boolean => before < limit && after >= limit;
  await tx.execute(
    `update limit_budgets set used = ?,
       threshold_crossed_at = case when ? then coalesce(threshold_crossed_at, now()) else threshold_crossed_at end,
       exhausted_at = case when ? then now() else exhausted_at end,
       exhausted_told_at = case when ? then null else exhausted_told_at end
     where key = ?`,
    [after, after >= threshold, crossed(Number(row.capacity)), crossed(Number(row.capacity)), row.key],
    'run',
  );
  if (crossed(Number(row.capacity))) await markExhausted(tx, row);
}

function entriesOf(stored: readonly Settled[]): Map<string, Entry[]> {
  const entries = new Map<string, Entry[]>();
  for (const { record, cost } of stored) {
    const tokens = record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens + record.outputTokens;
    for (const { key, lease, startMs, units } of record.reservations ?? []) {
      const entry = { startMs, lease, reserved: units, tokens, cost: cost ?? 0 };
      entries.set(key, [...(entries.get(key) ?? []), entry]);
    }
  }
  return entries;
}
