import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { queueCopies } from './queue-copies.ts';

const batchRecords = 500;

interface StoredRow {
  readonly id: string;
  /** The time has microseconds, so that the next batch begins exactly after it. */
  readonly at: string;
  readonly cost: number | string | null;
  readonly source: string | null;
  readonly saved: number | string | null;
  readonly record: RequestRecord;
}

/** Position of a copied record. */
export type CopyPosition = Pick<StoredRow, 'id' | 'at'>;

/** Queues copies of the next stored records after a position, oldest first. Returns their number and the new position. */
export async function copyStoredRecords(
  em: EntityManager,
  after: CopyPosition | null,
): Promise<{ readonly count: number; readonly last: CopyPosition | null }> {
  return em.fork().transactional(async (tx) => {
    // Locked, so that a change of one of them queues a later copy.
    const rows = await executeBound<StoredRow>(
      tx,
      `select id, created_at::text as at, cost_micro_usd * 1000 + cost_nano_rest as cost, price_source as source,
         saved_nano as saved, record
       from request_records where (created_at, id) > ($1::timestamptz, $2::uuid) order by created_at, id limit ${batchRecords} for update`,
      [after?.at ?? '-infinity', after?.id ?? '00000000-0000-0000-0000-000000000000'],
    );
    await queueCopies(
      tx,
      rows.map(({ record, cost, source, saved }) => ({
        record,
        source,
        cost: cost === null ? null : Number(cost),
        saved: saved === null ? undefined : Number(saved),
      })),
    );
    return { count: rows.length, last: rows.at(-1) ?? null };
  });
}

/** Lets the batches wait again that ClickHouse refused. Returns their number. */
export async function sendRefusedAgain(em: EntityManager): Promise<number> {
  const rows = await executeBound(
    em,
    'update record_copies set refused_for = null where refused_for is not null returning id',
    [],
  );
  return rows.length;
}
