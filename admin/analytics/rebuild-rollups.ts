import { dayMs, hourMs } from '../../core/contract/values/time/durations.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import { dimensionSources, dimensions } from './dimensions.ts';
import { type Grain, liveGrains } from './grains.ts';
import { measureNames } from './measures.ts';
import { recordsAsRollups } from './records-as-rollups.ts';
import { keyOf, summedSpans, writeSpan } from './sum-days.ts';

/** Records of a range of time, of all organisations. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Writes the roll-ups of one UTC day again from the records: those of each hour that overlaps the span, then those of the day, its quarters and its week. Each
 * hour and the day are a transaction of their own, so a run that is killed can be repeated. Records that arrive meanwhile wait for the transaction and are
 * then added. All records of these hours must still be stored.
 */
export async function rebuildDay(em: EntityManager, { fromMs, toMs }: Span): Promise<void> {
  const dayStartMs = Math.floor(fromMs / dayMs) * dayMs;
  for (let startMs = Math.floor(fromMs / hourMs) * hourMs; startMs < toMs; startMs += hourMs) await rebuildHour(em, startMs);
  await em.fork().transactional(async (tx) => {
    await lockRollups(tx);
    for (const spans of summedSpans) {
      const firstMs = Math.floor(dayStartMs / spans.lengthMs) * spans.lengthMs;
      for (let startMs = firstMs; startMs < dayStartMs + dayMs; startMs += spans.lengthMs) {
        const summed = await executeBound<{ id: string }>(
          tx,
          `select organisation_id as id from rollup_days where ${spans.until} > $1 order by 1`,
          [new Date(startMs)],
        );
        for (const { id } of summed) await writeSpan(tx, spans, { organisationId: id, startMs });
      }
    }
  });
}

async function rebuildHour(em: EntityManager, startMs: number): Promise<void> {
  const span = [new Date(startMs), new Date(startMs + hourMs)];
  await em.fork().transactional(async (tx) => {
    await lockRollups(tx);
    await executeBound(
      tx,
      `delete from usage_rollups where organisation_id in (select id from organisations) and grain = any($1::text::text[])
         and starts_at >= $2 and starts_at < $3`,
      [`{${liveGrains.map(({ name }) => name)}}`, ...span],
    );
    await executeBound(tx, sumsOfRecords, span);
  });
}

/** Waits for every writer, and stops new ones: a record is either visible to the next statement, or added after the commit. */
async function lockRollups(tx: EntityManager): Promise<void> {
  await tx.execute('lock table usage_rollups in share row exclusive mode');
}

const sums = measureNames.map((name) => `sum(${name})::bigint as ${name}`).join(', ');
const counts = (name: 'latency' | 'retries') =>
  `coalesce(array_agg((${name} << 32) + requests) filter (where ${name} > 0), '{}')`;
const written = ['organisation_id', 'grain', 'starts_at', 'key', ...dimensions, 'first_at', 'last_at', ...measureNames];
const insertInto = `insert into usage_rollups (${written.join(', ')}, latency, retries)`;

/** Returns a query that sums rows of `one` into rows of a grain. */
function sumsOfGrain({ name, lengthMs, keeps, hasCounts }: Grain): string {
  const by = ['organisation_id', 'bucket', ...keeps].join(', ');
  const start = `to_timestamp(floor(extract(epoch from starts_at) * 1000 / ${lengthMs}) * ${lengthMs} / 1000.0)`;
  // Sorted in two steps: sums of each latency and number of retries, then their counts as arrays.
  return `select organisation_id, '${name}', bucket, ${keyOf(keeps)},
      ${dimensions.map((one) => (keeps.includes(one) ? one : `null::${dimensionSources[one].type}`)).join(', ')}, min(first_at), max(last_at), ${sums},
      ${hasCounts ? counts('latency') : `'{}'`}, ${hasCounts ? counts('retries') : `'{}'`}
    from (select ${by}, latency, retries, min(first_at) as first_at, max(last_at) as last_at, ${sums}
      from (select *, ${start} as bucket from one) o ${keeps.includes('end_user') ? 'where end_user is not null' : ''}
      group by ${by}, latency, retries) s
    group by ${by}`;
}

/**
 * Returns a statement that inserts rows of these grains. `requests` selects one row for each request: its dimensions and measures, times, bin of
 * latency and number of retries.
 */
export function insertSums(requests: string, of: readonly Grain[]): string {
  return `with one as materialized (${requests}) ${insertInto} ${of.map((grain) => `(${sumsOfGrain(grain)})`).join(' union all ')}`;
}

const sumsOfRecords = insertSums(
  `select ${['organisation_id', ...dimensions, 'starts_at', 'first_at', 'last_at', ...measureNames].join(', ')},
    latency[1] >> 32 as latency, coalesce(retries[1] >> 32, 0) as retries
  from (${recordsAsRollups('r.organisation_id is not null and r.created_at >= $1 and r.created_at < $2')}) r`,
  liveGrains,
);
