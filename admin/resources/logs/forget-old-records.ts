import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '../../db/open-database.ts';

const dayMs = 86_400_000;
/** Records per statement: small enough that other writers never wait long for a lock or for the embedded database. */
const batchRecords = 1_000;
/** Maximum time of one run in milliseconds; the next run continues. */
const runMsMax = 600_000;

/** Returns the time before which records are deleted; null if RECORD_RETENTION_DAYS is 0. */
export function retentionStart(days: number, nowMs: number): Date | null {
  return days === 0 ? null : new Date(nowMs - days * dayMs);
}

/**
 * Deletes request records, or feedback, created before this time, oldest first, in small batches. Several control planes may run it at
 * once. Stops early when `isClosing` returns true. Returns the number of deleted rows.
 */
export async function forgetOldRecords(
  em: EntityManager,
  before: Date,
  isClosing: () => boolean,
  table: 'request_records' | 'record_contents' | 'feedbacks' = 'request_records',
): Promise<number> {
  const endsAtMs = performance.now() + runMsMax;
  let deleted = 0;
  while (!isClosing() && performance.now() < endsAtMs) {
    const gone = await em.execute<unknown[]>(
      // Materialized: the planner may run a subquery of `in` again for each row, and would then delete more than one batch.
      `with old as materialized (select id, created_at from ${table}
         where created_at < ? order by created_at limit ? for update skip locked)
       delete from ${table} using old
         where ${table}.id = old.id and ${table}.created_at = old.created_at and ${table}.created_at < ? returning old.id`,
      [before, batchRecords, before],
    );
    deleted += gone.length;
    if (gone.length < batchRecords) break;
    await nextTurn();
  }
  return deleted;
}
