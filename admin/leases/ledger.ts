import { DeadlockException } from '@mikro-orm/core';
import type { BudgetAsk, Grant, LeaseAsk, RateAsk } from '../../core/contract/protocol/limits/leases.ts';
import type { Database } from '../db/open-database.ts';
import { invalid } from '../http/errors.ts';
import { grantBudgets } from './budget-ledger.ts';
import { grantRates } from './rate-ledger.ts';

/** Serves the asks of one gateway process, each kind in one transaction. Throws AB01 if a key appears twice. */
export async function grantLeases(
  database: Database,
  asks: readonly LeaseAsk[],
  nowMs: number,
  holder: string | null = null,
): Promise<Grant[]> {
  if (new Set(asks.map((ask) => ask.key)).size !== asks.length) throw invalid('asks: duplicate key');
  const rates = asks.filter((ask): ask is RateAsk => ask.kind === 'rate');
  const budgets = asks.filter((ask): ask is BudgetAsk => ask.kind === 'budget');
  return [
    ...(await inTransaction(database, (tx) => grantRates(tx, rates, holder), rates.length)),
    ...(await inTransaction(database, (tx) => grantBudgets(tx, budgets, holder, nowMs), budgets.length)),
  ];
}

/**
 * Frees the unspent units of processes that have ended, once all their records are stored. Units of rate limits that their calls used
 * beyond their leases are taken from the window. Safe to call twice.
 */
export async function endHolders(database: Database, holders: readonly string[]): Promise<void> {
  if (holders.length === 0) return;
  await database.em().transactional(async (tx) => {
    const ended = await tx.execute<EndedLease[]>(
      `delete from limit_leases where holder in (select x::uuid from jsonb_array_elements_text(?::jsonb) x)
       returning key, start_ms, units, settled`,
      [JSON.stringify(holders)],
      'all',
    );
    const freed = ended
      .filter((lease) => lease.start_ms !== null && Number(lease.units) !== Number(lease.settled))
      .map(({ key, start_ms, units, settled }) => ({ key, startMs: Number(start_ms), units: Number(units) - Number(settled) }));
    if (freed.length === 0) return;
    await tx.execute(
      `update limit_windows w set handed_out = greatest(0, w.handed_out - a.units)
       from (select key, "startMs", sum(units) as units
             from jsonb_to_recordset(?::jsonb) as f(key text, "startMs" bigint, units bigint)
             group by key, "startMs" order by key) as a
       where w.key = a.key and w.start_ms = a."startMs"`,
      [JSON.stringify(freed)],
      'run',
    );
  });
}

interface EndedLease {
  readonly key: string;
  /** Null for budgets, whose unspent units are free once the lease is gone. */
  readonly start_ms: number | string | null;
  readonly units: number | string;
  readonly settled: number | string;
}

type Work = (tx: ReturnType<Database['em']>) => Promise<Grant[]>;

async function inTransaction(database: Database, work: Work, count: number): Promise<Grant[]> {
  if (count === 0) return [];
  try {
    return await database.em().transactional(work);
  } catch (error) {
    // Locks are taken in the order of keys. Remaining deadlocks are resolved by a second attempt.
    if (!(error instanceof DeadlockException)) throw error;
    return database.em().transactional(work);
  }
}
