import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import { type Dimension, dimensionSources, dimensions } from './dimensions.ts';
import { dayMs, type Grain, grainPairs, grains, hourMs } from './grains.ts';
import { measureNames } from './measures.ts';
import { recordsAsRollups } from './records-as-rollups.ts';

/** Records of a range of time, of all organisations. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Writes the roll-ups of one UTC day again from the records: those of each hour that overlaps the span, then those of the day. Each hour and the day
 * are a transaction of their own, so a run that is killed can be repeated. Records that arrive meanwhile wait for the transaction and are
 * then added. All records of these hours must still be stored.
 */
export async function rebuildDay(em: EntityManager, { fromMs, toMs }: Span): Promise<void> {
  const dayStartMs = Math.floor(fromMs / dayMs) * dayMs;
  for (let startMs = Math.floor(fromMs / hourMs) * hourMs; startMs < toMs; startMs += hourMs) {
    await replace(em, [...finerGrains, grains.hour], { fromMs: startMs, toMs: startMs + hourMs }, sumsOfRecords);
  }
  await replace(
    em,
    dayPairs.map(([, day]) => day),
    { fromMs: dayStartMs, toMs: dayStartMs + dayMs },
    sumsOfHours,
  );
}

const finerGrains = grainPairs.map(([finer]) => finer);
/** Grains of hours, and those of days that sum them. */
const dayPairs = grainPairs.filter(([, coarser]) => coarser.lengthMs === dayMs);

async function replace(em: EntityManager, of: readonly Grain[], { fromMs, toMs }: Span, insert: string): Promise<void> {
  const span = [new Date(fromMs), new Date(toMs)];
  await em.fork().transactional(async (tx) => {
    // Waits for every writer, and stops new ones: a record is either visible to the statements below, or added after the commit.
    await tx.execute('lock table usage_rollups in share row exclusive mode');
    await executeBound(
      tx,
      `delete from usage_rollups where organisation_id in (select id from organisations) and grain = any($1::text::text[])
         and starts_at >= $2 and starts_at < $3`,
      [`{${of.map(({ name }) => name)}}`, ...span],
    );
    await executeBound(tx, insert, span);
  });
}

const sums = measureNames.map((name) => `sum(${name})::bigint as ${name}`).join(', ');
const counts = (name: 'latency' | 'retries') =>
  `coalesce(array_agg((${name} << 32) + requests) filter (where ${name} > 0), '{}')`;
const written = ['organisation_id', 'grain', 'starts_at', 'key', ...dimensions, 'first_at', 'last_at', ...measureNames];
const insertInto = `insert into usage_rollups (${written.join(', ')}, latency, retries)`;

/** Returns the digest of the dimensions that `RollupBatch` computes. */
function keyOf(keeps: readonly Dimension[]): string {
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(${name})::text, 'null')` : `'null'`));
  return `encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid`;
}

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

const sumsOfRecords = `with one as materialized (
    select ${['organisation_id', ...dimensions, 'starts_at', 'first_at', 'last_at', ...measureNames].join(', ')},
      latency[1] >> 32 as latency, coalesce(retries[1] >> 32, 0) as retries
    from (${recordsAsRollups('r.organisation_id is not null and r.created_at >= $1 and r.created_at < $2')}) r)
  ${insertInto}
  ${[...finerGrains, grains.hour].map((grain) => `(${sumsOfGrain(grain)})`).join(' union all ')}`;

const sumsOfHours = `with hours as materialized (
    select *, case grain ${dayPairs.map(([hour, day]) => `when '${hour.name}' then '${day.name}'`).join(' ')} end as day_grain
    from usage_rollups where organisation_id in (select id from organisations)
      and grain in (${dayPairs.map(([hour]) => `'${hour.name}'`).join(', ')}) and starts_at >= $1 and starts_at < $2),
  bins as (
    select organisation_id, day_grain, key, array_agg((bin << 32) + number) as latency
    from (select organisation_id, day_grain, key, (packed + 2147483648) >> 32 as bin,
        sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
      from hours, unnest(latency) packed group by 1, 2, 3, 4) b where number <> 0 group by 1, 2, 3),
  tries as (
    select organisation_id, day_grain, key, array_agg(packed) as retries from hours, unnest(retries) packed group by 1, 2, 3)
  ${insertInto}
  select organisation_id, day_grain, $1, key, ${dimensions.map((name) => (name === 'workspace_id' ? `min(${name}::text)::uuid` : `min(${name})`)).join(', ')},
    min(first_at), max(last_at), ${sums}, coalesce(min(b.latency), '{}'), coalesce(min(t.retries), '{}')
  from hours left join bins b using (organisation_id, day_grain, key) left join tries t using (organisation_id, day_grain, key)
  group by organisation_id, day_grain, key`;
