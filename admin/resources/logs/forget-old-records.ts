import { deleteInBatches } from '../../db/delete-in-batches.ts';
import type { EntityManager } from '../../db/open-database.ts';

const dayMs = 86_400_000;

/** Returns the time before which records are deleted; null if RECORD_RETENTION_DAYS is 0. */
export function retentionStart(days: number, nowMs: number): Date | null {
  return days === 0 ? null : new Date(nowMs - days * dayMs);
}

/** Deletes rows created before this time, of one organisation or (null) of all, and returns their number. */
export function forgetOldRecords(
  em: EntityManager,
  before: Date,
  isClosing: () => boolean,
  table: 'request_records' | 'record_contents' | 'feedbacks' = 'request_records',
  organisationId: string | null = null,
): Promise<number> {
  return deleteInBatches(em, {
    ...{ table, keys: ['id', 'created_at'], time: 'created_at', before, organisationId, batchRows: 1_000, isClosing },
  });
}
