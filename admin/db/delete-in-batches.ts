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
  /** Values that columns of the rows must have; null: all rows. */
  readonly owner?:
    | { readonly organisation_id: string }
    | { readonly workspace_id: string | null; readonly organisation_id?: string }
    | null;
  /** Rows per statement: small enough that other writers never wait long for a lock or for the embedded database. */
  readonly batchRows: number;
  /** Stops between batches when it returns true. */
  readonly isClosing: () => boolean;
}

/** Deletes rows from before a time, in small batches. Several control planes may run it at once. Returns the number of deleted rows. */
export async function deleteInBatches(em: EntityManager, rows: OldRows): Promise<number> {
  const { table, keys, time, before, batchRows, isClosing } = rows;
  const endsAtMs = performance.now() + runMsMax;
  const owned = Object.entries(rows.owner ?? {});
  const owner = owned.map(([column, value]) => (value === null ? `and ${column} is null` : `and ${column} = ?`)).join(' ');
  const values = [before, ...owned.flatMap(([, value]) => value ?? [])];
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
