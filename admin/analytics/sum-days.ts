import { executeBound } from '../db/execute-bound.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { type Dimension, dimensionSources, dimensions } from './dimensions.ts';
import { dayMs, type Grain, grains, hourMs, hoursAndDays, hoursAndQuarters, quarterMs } from './grains.ts';
import { measureNames } from './measures.ts';

/** Days or quarters of days. `until`: column of `rollup_days`, the time before which they are summed. */
export interface Spans {
  readonly lengthMs: number;
  readonly until: 'days_until' | 'quarters_until';
  readonly grains: readonly (readonly [Grain, Grain])[];
}

export const days: Spans = { lengthMs: dayMs, until: 'days_until', grains: hoursAndDays };
export const quarters: Spans = { lengthMs: quarterMs, until: 'quarters_until', grains: hoursAndQuarters };

/** Time after the end of a span before it is summed. Nearly all of its records have arrived, and no clock of a control plane is that wrong. */
const delayMs = hourMs;
/** Rows of hours per statement, so that none takes longer than a statement may. */
const sliceRows = 10_000;

/**
 * Sums the hours of every day and quarter of a day that has ended, for each organisation. Each span is a transaction. Records of these spans that
 * arrive later are added to hours and spans alike: `shareDays`.
 */
export async function sumDays(
  database: Pick<Database, 'em'>,
  nowMs: number,
  { isClosing = () => false, rowsMax = sliceRows }: { isClosing?: () => boolean; rowsMax?: number } = {},
): Promise<void> {
  const em = database.em();
  for (const spans of [days, quarters]) {
    const untilMs = Math.floor((nowMs - delayMs) / spans.lengthMs) * spans.lengthMs;
    const rows = await em.execute<{ id: string }[]>(
      `select o.id from organisations o left join rollup_days d on d.organisation_id = o.id
       where coalesce(d.${spans.until}, '-infinity') < ? order by 1`,
      [new Date(untilMs)],
    );
    for (const { id } of rows) {
      let hasMore = true;
      while (hasMore && !isClosing()) {
        hasMore = await em.fork().transactional((tx) => sumNext(tx, id, { spans, untilMs, rowsMax }));
      }
    }
  }
}

/** Sums the first span with requests that is not summed. Returns false if there is none before `untilMs`. */
async function sumNext(
  tx: EntityManager,
  organisationId: string,
  { spans, untilMs, rowsMax }: { readonly spans: Spans; readonly untilMs: number; readonly rowsMax: number },
): Promise<boolean> {
  const { lengthMs, until } = spans;
  await executeBound(tx, `select pg_advisory_xact_lock(${lockOf('$1')})`, [organisationId]);
  const [next] = await executeBound<{ start: number | null }>(
    tx,
    `select floor(extract(epoch from min(starts_at)) * 1000 / ${lengthMs})::float8 * ${lengthMs} as start from usage_rollups
     where organisation_id = $1 and grain = '${grains.hour.name}' and starts_at >= ${untilOf(until, '$1')} and starts_at < $2`,
    [organisationId, new Date(untilMs)],
  );
  const startMs = next?.start ?? null;
  if (startMs !== null) await writeSpan(tx, spans, { organisationId, startMs }, rowsMax);
  await executeBound(
    tx,
    `insert into rollup_days (organisation_id, ${until}) values ($1, $2)
     on conflict (organisation_id) do update set ${until} = greatest(rollup_days.${until}, excluded.${until})`,
    [organisationId, new Date(startMs === null ? untilMs : startMs + lengthMs)],
  );
  return startMs !== null;
}

/** SQL: the start of the first day of an organisation whose hours must be read. */
export const daysUntilOf = (organisationId: string) => untilOf(days.until, organisationId);

const untilOf = (until: Spans['until'], organisationId: string) =>
  `coalesce((select ${until} from rollup_days where organisation_id = ${organisationId}), '-infinity')`;

/** Times in milliseconds before which the days and quarters of an organisation are summed and stay complete; 0: none are summed. */
export interface SummedUntil {
  readonly daysMs: number;
  readonly quartersMs: number;
}

export async function readSummedUntil(em: EntityManager, organisationId: string): Promise<SummedUntil> {
  const ms = (until: Spans['until']) => `coalesce((extract(epoch from nullif(${until}, '-infinity')) * 1000)::float8, 0)`;
  const rows = await em.execute<{ days: number; quarters: number }[]>(
    `select ${ms('days_until')} as days, ${ms('quarters_until')} as quarters from rollup_days where organisation_id = ?`,
    [organisationId],
  );
  return { daysMs: Number(rows[0]?.days ?? 0), quartersMs: Number(rows[0]?.quarters ?? 0) };
}

const lockOf = (organisationId: string) => `hashtextextended(${organisationId}::text, 4715004)`;

/**
 * Must run before roll-ups of spans that have ended are written: a span is either summed before, and then `rollup_days` names it in the following
 * statement, or it is summed after this transaction.
 */
export async function shareDays(tx: EntityManager, organisationIds: ReadonlySet<string>): Promise<void> {
  for (const id of [...organisationIds].sort()) {
    await executeBound(tx, `select pg_advisory_xact_lock_shared(${lockOf('$1')})`, [id]);
  }
}

/** Replaces the rows of one span by the sums of its hours. */
export async function writeSpan(
  tx: EntityManager,
  { lengthMs, grains: pairs }: Spans,
  { organisationId, startMs }: { readonly organisationId: string; readonly startMs: number },
  rowsMax = sliceRows,
): Promise<void> {
  const span = [organisationId, new Date(startMs), new Date(startMs + lengthMs)];
  await executeBound(
    tx,
    `delete from usage_rollups where organisation_id = $1 and grain in (${pairs.map(([, { name }]) => `'${name}'`).join(', ')})
       and starts_at >= $2 and starts_at < $3`,
    span,
  );
  for (const [hours, sums] of pairs) {
    const insert = insertOf(hours, sums);
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
 * Sums one slice of the hours of a span. Hours of the same row are in the same slice. They are inserted in the order of the primary key, in which
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
