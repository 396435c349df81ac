import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { queueCopies } from '../../analytics/clickhouse/queue-copies.ts';
import { sumRequests } from '../../analytics/sum-requests.ts';
import { applyRollups } from '../../analytics/write-rollups.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { settleRecords } from '../../leases/settle.ts';
import { toNanoUsd } from '../../pricing/nano-usd.ts';
import { discardedCallsOf, priceWhole } from '../../pricing/price-record.ts';
import { readPricing } from '../integrations/models/read-pricing.ts';
import { type Repricing, repricings } from './entity.ts';

export const repriceKind = 'reprice-records';

/** Records per transaction. */
const batchRecords = 500;

interface Stored {
  readonly id: string;
  /** The time has microseconds, so that the next batch begins exactly after it. */
  readonly at: string;
  readonly cost_micro_usd: number | string | null;
  readonly cost_nano_rest: number;
  readonly record: RequestRecord;
}

/**
 * Job of one repricing. Each transaction changes some records, their roll-ups and the budgets of their windows, and stores the position
 * after them. A run that is killed at any point continues without a missing or repeated difference.
 */
export function repriceJob({
  database,
  clock,
  clickhouse,
}: Pick<AdminServices, 'database' | 'clock' | 'clickhouse'>): JobHandler {
  return async ({ key, organisationId, signal }) => {
    if (organisationId === null) return 'done';
    while (!signal.aborted) {
      const isMore = await database
        .em()
        .transactional((tx) => repriceBatch(tx, { id: key, organisationId, isCopied: clickhouse !== null }, clock.now()));
      if (!isMore) return 'done';
    }
    return { againInMs: 0 };
  };
}

/** Returns false after the last batch. */
async function repriceBatch(
  tx: EntityManager,
  { isCopied, ...where }: { readonly id: string; readonly organisationId: string; readonly isCopied: boolean },
  nowMs: number,
): Promise<boolean> {
  // Locked, so that a second run of the same job waits and then continues after this one.
  const job = await tx.findOne(repricings, { ...where, status: 'in_progress' }, { lockMode: 4 });
  if (!job) return false;
  const rows = await readRecords(tx, job);
  const pricingOf = await readPricing(
    tx,
    rows.flatMap(({ record }) => [record, ...discardedCallsOf(record)]),
  );
  const changed = rows.flatMap(({ id, at, record, cost_micro_usd, cost_nano_rest }) => {
    const before = cost_micro_usd === null ? null : toNanoUsd(cost_micro_usd, cost_nano_rest);
    const { costNanoUsd: cost, source, record: priced } = priceWhole(record, pricingOf);
    return cost === before && String(priced.unpriced) === String(record.unpriced)
      ? []
      : [{ id, at, cost, source, record: priced, before, recordBefore: record }];
  });
  await writeCosts(tx, changed);
  // An interrupted call is billed everything that was reserved for it, whatever its price.
  const settled = changed.filter(({ record }) => record.outcome !== 'interrupted');
  await settleRecords(
    tx,
    settled.map(({ record, cost, before, recordBefore }) => ({ record, cost, before: { record: recordBefore, cost: before } })),
    nowMs,
  );
  const differences = changed.flatMap(({ record, before, cost, recordBefore }) => [
    { record, cost },
    { record: recordBefore, cost: before, sign: -1 } as const,
  ]);
  await applyRollups(tx, sumRequests(differences, nowMs));
  if (isCopied) await queueCopies(tx, changed);
  const last = rows.at(-1);
  const isMore = rows.length === batchRecords;
  tx.assign(job, {
    recordsRead: job.recordsRead + rows.length,
    recordsChanged: job.recordsChanged + changed.length,
    differenceNano: job.differenceNano + changed.reduce((sum, { cost, before }) => sum + (cost ?? 0) - (before ?? 0), 0),
    ...(last ? { lastAt: last.at, lastId: last.id } : {}),
    ...(isMore ? {} : { status: 'success', finishedAt: new Date(nowMs) }),
  });
  await tx.flush();
  return isMore;
}

/** Reads and locks the next records of the range, oldest first. */
function readRecords(tx: EntityManager, job: Repricing): Promise<Stored[]> {
  const isFirst = job.lastAt === null || job.lastAt === undefined;
  return executeBound(
    tx,
    `select id, created_at::text as at, cost_micro_usd, cost_nano_rest, record from request_records
     where organisation_id = $1 and created_at >= $2 and created_at < $3 and (created_at, id) > ($4::timestamptz, $5::uuid)
       and checkpoint is null
     order by created_at, id limit ${batchRecords} for update`,
    [
      ...[job.organisationId, job.fromAt, job.toAt],
      ...(isFirst ? ['-infinity', '00000000-0000-0000-0000-000000000000'] : [job.lastAt, job.lastId]),
    ],
  );
}

async function writeCosts(
  tx: EntityManager,
  rows: readonly {
    readonly id: string;
    readonly at: string;
    readonly cost: number | null;
    readonly source: string | null;
    readonly record: RequestRecord;
  }[],
): Promise<void> {
  if (rows.length === 0) return;
  await executeBound(
    tx,
    `update request_records r set cost_micro_usd = sent.cost / 1000, cost_nano_rest = coalesce(sent.cost % 1000, 0),
       price_source = sent.source,
       record = (case when sent.discarded is null then r.record else jsonb_set(r.record, '{discarded}', sent.discarded) end - 'unpriced')
         || case when sent.unpriced is null then '{}' else jsonb_build_object('unpriced', sent.unpriced) end
     from jsonb_to_recordset($1::jsonb) as sent(id uuid, at timestamptz, cost bigint, source text, discarded jsonb, unpriced jsonb)
     where r.id = sent.id and r.created_at = sent.at`,
    [
      JSON.stringify(
        rows.map(({ id, at, cost, source, record: { discarded, unpriced } }) => ({ id, at, cost, source, discarded, unpriced })),
      ),
    ],
  );
}
