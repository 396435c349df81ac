import { hourMs } from '../../core/contract/values/time/durations.ts';
import type { Database } from '../db/open-database.ts';
import type { BudgetRow } from './budget-ledger.ts';
import { clearExhausted } from './entity-state.ts';

/** Milliseconds for which windows and leases are stored after their end, for late returns and settlements. */
const retentionMs = hourMs;

/** Deletes windows and leases that ended long ago, and budgets of tokens that have ended. */
export async function forgetOldWindows(database: Pick<Database, 'em'>, nowMs: number): Promise<void> {
  const em = database.em();
  await em.execute('delete from limit_windows where end_ms < ?', [nowMs - retentionMs], 'run');
  await em.execute('delete from limit_leases where expires_ms < ?', [nowMs - retentionMs], 'run');
  await em.execute(`delete from limit_budgets where key like 'budget:token:%' and end_ms < ?`, [nowMs - retentionMs], 'run');
}

/** Clears the exhausted mark of entities whose budget window has ended without a new ask. */
export async function clearPassedBudgets(database: Pick<Database, 'em'>, nowMs: number): Promise<number> {
  return database.em().transactional(async (tx) => {
    const rows = await tx.execute<BudgetRow[]>(
      'select * from limit_budgets where end_ms <= ? and exhausted_at is not null order by key for update',
      [nowMs],
      'all',
    );
    for (const row of rows) {
      await tx.execute('update limit_budgets set exhausted_at = null, exhausted_told_at = null where key = ?', [row.key], 'run');
      await clearExhausted(tx, row);
    }
    return rows.length;
  });
}
