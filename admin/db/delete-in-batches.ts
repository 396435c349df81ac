import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from './open-database.ts';

/** Maximum time of one run in milliseconds; the next run continues. */
const runMsMax = 600_000;

export interface OldRows {
  readonly table: 'request_records' | 'record_contents' | 'feedbacks' | 'cached_replies' | 'limit_entries' | 'limit_past_windows';
  /** Columns that identify a row. */
  readonly keys: readonly [string, ...string[]];
  /** Column of the time; the oldest rows are deleted first. `end_ms` is in milliseconds. */
  readonly time: 'created_at' | 'expires_at' | 'end_ms';
  readonly before: Date | number;
  /** Null: rows of all organisations. */
  readonly organisationId?: string | null;
  /** Rows per statement: small enough that other writers never wait long for a lock or for the embedded database. */
  readonly batchRows: number;
  /** Stops between batches when it returns true. */
  readonly isClosing: () => boolean;
}

/** Deletes rows from before a time, in small batches. Several control planes may run it at once. Returns the number of deleted rows. */
export async function deleteInBatches(em: EntityManager, rows: OldRows): Promise<number> {
  const { table, keys, time, before, organisationId = null, batchRows, isClosing } = rows;
  const endsAtMs = performance.now() + runMsMax;
  const owner = organisationId === null ? '' : 'and organisation_id = ?';
  const values = organisationId === null ? [before] : [before, organisationId];
  let deleted = 0;
  while (!isClosing() && performance.now() < endsAtMs) {
    const gone = await em.execute<unknown[]>(
      // Materialized: the planner may run a subquery of `in` again for each row, and would then delete more than one batch.
      `with old as materialized (select ${keys.join(', ')} from ${table}
         where ${time} < ? ${owner} order by ${time} limit ? for update skip locked)
       delete from ${table} t using old
         where ${keys.map((key) => `t.${key} = old.${key}`).join(' and ')} and t.${time} < ? returning old.${keys[0]}`,
      [...values, batchRows, before],
    );
    deleted += gone.length;
    if (gone.length < batchRows) break;
    await nextTurn();
  }
  return deleted;
}
