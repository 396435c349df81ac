import { executeBound } from '../db/execute-bound.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { type Dimension, dimensionSources, dimensions } from './dimensions.ts';
import { dayGrains, dayMs, type Grain, grains, hourMs, hoursAndDays } from './grains.ts';
import { measureNames } from './measures.ts';

/** Time after the end of a day before it is summed. Nearly all of its records have arrived, and no clock of a control plane is that wrong. */
const delayMs = hourMs;
/** Rows of hours per statement, so that none takes longer than a statement may. */
const sliceRows = 10_000;

/**
 * Sums the hours of every day that has ended into rows of days, for each organisation. A day is a transaction. Records of these days that arrive
 * later are added to hours and days alike: `shareDays`.
 */
export async function sumDays(
  database: Pick<Database, 'em'>,
  nowMs: number,
  { isClosing = () => false, rowsMax = sliceRows }: { isClosing?: () => boolean; rowsMax?: number } = {},
): Promise<void> {
  const untilMs = Math.floor((nowMs - delayMs) / dayMs) * dayMs;
  const em = database.em();
  const rows = await em.execute<{ id: string }[]>(
    `select o.id from organisations o left join rollup_days d on d.organisation_id = o.id
     where coalesce(d.days_until, '-infinity') < ? order by 1`,
    [new Date(untilMs)],
  );
  for (const { id } of rows) {
    let hasMore = true;
    while (hasMore && !isClosing()) {
      hasMore = await em.fork().transactional((tx) => sumNextDay(tx, id, untilMs, rowsMax));
    }
  }
}

/** Sums the first day with requests that is not summed. Returns false if there is none before `untilMs`. */
async function sumNextDay(tx: EntityManager, organisationId: string, untilMs: number, rowsMax: number): Promise<boolean> {
  await executeBound(tx, `select pg_advisory_xact_lock(${lockOf('$1')})`, [organisationId]);
  const [next] = await executeBound<{ day: number | null }>(
    tx,
    `select floor(extract(epoch from min(starts_at)) * 1000 / ${dayMs})::float8 * ${dayMs} as day from usage_rollups
     where organisation_id = $1 and grain = '${grains.hour.name}' and starts_at >= ${daysUntilOf('$1')} and starts_at < $2`,
    [organisationId, new Date(untilMs)],
  );
  const dayAtMs = next?.day ?? null;
  if (dayAtMs !== null) await writeDay(tx, organisationId, dayAtMs, rowsMax);
  await executeBound(
    tx,
    `insert into rollup_days (organisation_id, days_until) values ($1, $2)
     on conflict (organisation_id) do update set days_until = greatest(rollup_days.days_until, excluded.days_until)`,
    [organisationId, new Date(dayAtMs === null ? untilMs : dayAtMs + dayMs)],
  );
  return dayAtMs !== null;
}

/** SQL: the start of the first day of an organisation whose hours must be read. */
export const daysUntilOf = (organisationId: string) =>
  `coalesce((select days_until from rollup_days where organisation_id = ${organisationId}), '-infinity')`;

/** Returns the same time in milliseconds; 0 if no day is summed. Days before it stay complete. */
export async function readDaysUntil(em: EntityManager, organisationId: string): Promise<number> {
  const rows = await em.execute<{ ms: number }[]>(
    'select (extract(epoch from days_until) * 1000)::float8 as ms from rollup_days where organisation_id = ?',
    [organisationId],
  );
  return Number(rows[0]?.ms ?? 0);
}

const lockOf = (organisationId: string) => `hashtextextended(${organisationId}::text, 4715004)`;

/**
 * Must run before roll-ups of days that have ended are written: a day is either summed before, and then `rollup_days` names it in the following
 * statement, or it is summed after this transaction.
 */
export async function shareDays(tx: EntityManager, organisationIds: ReadonlySet<string>): Promise<void> {
  for (const id of [...organisationIds].sort()) {
    await executeBound(tx, `select pg_advisory_xact_lock_shared(${lockOf('$1')})`, [id]);
  }
}

/** Replaces the rows of one day by the sums of its hours. */
export async function writeDay(tx: EntityManager, organisationId: string, dayAtMs: number, rowsMax = sliceRows): Promise<void> {
  const span = [organisationId, new Date(dayAtMs), new Date(dayAtMs + dayMs)];
  await executeBound(
    tx,
    `delete from usage_rollups where organisation_id = $1 and grain in (${dayGrains.map(({ name }) => `'${name}'`).join(', ')})
       and starts_at >= $2 and starts_at < $3`,
    span,
  );
  for (const { hours, insert } of sums) {
    const [{ rows } = { rows: 0 }] = await executeBound<{ rows: number }>(
      tx,
      `select count(*)::int as rows from usage_rollups
       where organisation_id = $1 and grain = '${hours.name}' and starts_at >= $2 and starts_at < $3`,
      span,
    );
    const slices = Math.ceil(rows / rowsMax);
    for (let slice = 0; slice < slices; slice++) {
      await executeBound(tx, insert, [...span, slices, slice]);
    }
  }
}

const added = measureNames.map((name) => `sum(${name})::bigint as ${name}`).join(', ');
const counts = (name: 'latency' | 'retries') => `(
    select day_key, array_agg((bin << 32) + number) as ${name} from (
      select day_key, (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
      from hours, unnest(${name}) packed group by 1, 2) b
    where number <> 0 group by 1)`;

/** Returns the digest of the dimensions that names a row, as `write-rollups.ts` computes it. */
export function keyOf(keeps: readonly Dimension[]): string {
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(${name})::text, 'null')` : `'null'`));
  return `encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid`;
}

/** All values of a group are equal. PostgreSQL has no minimum of UUIDs. */
const valueIn = (name: Dimension) => (dimensionSources[name].type === 'uuid' ? `min(${name}::text)::uuid` : `min(${name})`);

/**
 * Sums one slice of the hours of a day. Rows of the same day row are in the same slice. They are inserted in the order of the primary key, in which
 * queries read them.
 */
function insertOf(hours: Grain, { name, keeps }: Grain): string {
  const isSame = hours.keeps.length === keeps.length;
  const hash = `hashtextextended(concat_ws('/', ${keeps.join(', ')}), 0)`;
  return `with hours as materialized (
      select *, ${isSame ? 'key' : keyOf(keeps)} as day_key from usage_rollups
      where organisation_id = $1 and grain = '${hours.name}' and starts_at >= $2 and starts_at < $3
        and ($4::int = 1 or ((${hash} % $4::int) + $4::int) % $4::int = $5::int)),
    days as (
      select day_key, ${keeps.map((one) => `${valueIn(one)} as ${one}`).join(', ')}, min(first_at) as first_at, max(last_at) as last_at, ${added}
      from hours group by 1)
    insert into usage_rollups (organisation_id, grain, starts_at, key, ${keeps.join(', ')}, first_at, last_at, ${measureNames.join(', ')}, latency, retries)
    select $1, '${name}', $2, d.day_key, ${keeps.map((one) => `d.${one}`).join(', ')}, d.first_at, d.last_at,
      ${measureNames.map((one) => `d.${one}`).join(', ')}, coalesce(l.latency, '{}'), coalesce(r.retries, '{}')
    from days d left join ${counts('latency')} l using (day_key) left join ${counts('retries')} r using (day_key)
    order by d.day_key`;
}

const sums = hoursAndDays.map(([hours, days]) => ({ hours, insert: insertOf(hours, days) }));
