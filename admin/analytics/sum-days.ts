import { dayMs, hourMs } from '../../core/contract/values/time/durations.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { type Dimension, dimensionSources, dimensions } from './dimensions.ts';
import { daysAndWeeks, type Grain, grains, hoursAndDays, hoursAndQuarters, quarterMs, weekMs } from './grains.ts';
import { measureNames } from './measures.ts';

/**
 * Days, quarters of days or weeks. `until`: column of `rollup_days`, the time before which they are summed. `grains`: pairs of a grain of hours or days and
 * the grain of their sums. `totals`: the grain of these hours or days with the fewest rows.
 */
export interface Spans {
  readonly lengthMs: number;
  readonly until: 'days_until' | 'quarters_until' | 'weeks_until';
  readonly totals: Grain;
  readonly grains: readonly (readonly [Grain, Grain])[];
}

export const days: Spans = { lengthMs: dayMs, until: 'days_until', totals: grains.hour, grains: hoursAndDays };
const quarters: Spans = { lengthMs: quarterMs, until: 'quarters_until', totals: grains.hour, grains: hoursAndQuarters };
export const weeks: Spans = { lengthMs: weekMs, until: 'weeks_until', totals: grains.day, grains: daysAndWeeks };
/** In the order in which they are summed: weeks from days. */
export const summedSpans: readonly Spans[] = [days, quarters, weeks];

/** Time after the end of a span before it is summed. Nearly all of its records have arrived, and no clock of a control plane is that wrong. */
const delayMs = hourMs;
/** Rows of hours or days per statement, so that none takes longer than a statement may. */
const sliceRows = 10_000;

/**
 * Sums the hours of every day and quarter of a day that has ended, and the days of every week, for each organisation. Each span is a transaction. Records of
 * these spans that arrive later are added to hours and spans alike: `shareDays`.
 */
export async function sumDays(
  database: Pick<Database, 'em'>,
  nowMs: number,
  { isClosing = () => false, rowsMax = sliceRows }: { isClosing?: () => boolean; rowsMax?: number } = {},
): Promise<void> {
  const em = database.em();
  for (const spans of summedSpans) {
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
  const { lengthMs, until, totals } = spans;
  await executeBound(tx, `select pg_advisory_xact_lock(${lockOf('$1')})`, [organisationId]);
  // A week is summed after its days.
  const summedMs = spans === weeks ? (await readSummedUntil(tx, organisationId)).daysMs : untilMs;
  const endMs = Math.min(untilMs, Math.floor(summedMs / lengthMs) * lengthMs);
  const [next] = await executeBound<{ start: number | null }>(
    tx,
    `select floor(extract(epoch from min(starts_at)) * 1000 / ${lengthMs})::float8 * ${lengthMs} as start from usage_rollups
     where organisation_id = $1 and grain = '${totals.name}' and starts_at >= ${untilOf(until, '$1')} and starts_at < $2`,
    [organisationId, new Date(endMs)],
  );
  const startMs = next?.start ?? null;
  if (startMs !== null) await writeSpan(tx, spans, { organisationId, startMs }, rowsMax);
  await executeBound(
    tx,
    `insert into rollup_days (organisation_id, ${until}) values ($1, $2)
     on conflict (organisation_id) do update set ${until} = greatest(rollup_days.${until}, excluded.${until})`,
    [organisationId, new Date(startMs === null ? endMs : startMs + lengthMs)],
  );
  return startMs !== null;
}

/** SQL: the start of the first day of an organisation whose hours must be read. */
export const daysUntilOf = (organisationId: string) => untilOf(days.until, organisationId);

const untilOf = (until: Spans['until'], organisationId: string) =>
  `coalesce((select ${until} from rollup_days where organisation_id = ${organisationId}), '-infinity')`;

/**
 * Times in milliseconds before which the days, quarters and weeks of an organisation are summed and stay complete; 0: none are summed. Weeks before
 * `weeksFromMs` are deleted.
 */
export interface SummedUntil {
  readonly daysMs: number;
  readonly quartersMs: number;
  readonly weeksFromMs: number;
  readonly weeksMs: number;
}

/** Returns zeros for an organisation whose roll-ups were never summed. */
export async function readSummedUntil(em: EntityManager, organisationId: string): Promise<SummedUntil> {
  const ms = (column: Spans['until'] | 'weeks_from', name: keyof SummedUntil) =>
    `coalesce((extract(epoch from nullif(${column}, '-infinity')) * 1000)::float8, 0) as "${name}"`;
  const [row] = await em.execute<SummedUntil[]>(
    `select ${ms('days_until', 'daysMs')}, ${ms('quarters_until', 'quartersMs')}, ${ms('weeks_from', 'weeksFromMs')}, ${ms('weeks_until', 'weeksMs')}
     from rollup_days where organisation_id = ?`,
    [organisationId],
  );
  return row ?? { daysMs: 0, quartersMs: 0, weeksFromMs: 0, weeksMs: 0 };
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

/**
 * Weeks that begin before this time are read as days from now on. Must run before such weeks are deleted: their last days are deleted
 * later. The time never moves back, because the rows of these weeks are deleted.
 */
export async function expireWeeks(em: EntityManager, beforeMs: number): Promise<void> {
  await em.execute(
    `insert into rollup_days (organisation_id, weeks_from) select id, ? from organisations
     on conflict (organisation_id) do update set weeks_from = excluded.weeks_from where rollup_days.weeks_from < excluded.weeks_from`,
    [new Date(Math.ceil(beforeMs / weekMs) * weekMs)],
  );
}

/** Replaces the rows of one span by the sums of its hours or days. */
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
  for (const [summed, sums] of pairs) {
    const insert = insertOf(summed, sums);
    const [{ rows } = { rows: 0 }] = await executeBound<{ rows: number }>(
      tx,
      `select count(*)::int as rows from usage_rollups
       where organisation_id = $1 and grain = '${summed.name}' and starts_at >= $2 and starts_at < $3`,
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
    select sum_key, array_agg((bin << 32) + number) as ${name} from (
      select sum_key, (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
      from summed, unnest(${name}) packed group by 1, 2) b
    where number <> 0 group by 1)`;

/** Returns the digest of the dimensions that names a row, as `write-rollups.ts` computes it. */
export function keyOf(keeps: readonly Dimension[]): string {
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(${name})::text, 'null')` : `'null'`));
  return `encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid`;
}

/** All values of a group are equal. PostgreSQL has no minimum of UUIDs. */
const valueIn = (name: Dimension) => (dimensionSources[name].type === 'uuid' ? `min(${name}::text)::uuid` : `min(${name})`);

/**
 * Sums one slice of the hours or days of a span. Those of the same row are in the same slice. They are inserted in the order of the primary key, in which
 * queries read them.
 */
function insertOf(summed: Grain, { name, keeps }: Grain): string {
  const isSame = summed.keeps.length === keeps.length;
  const hash = `hashtextextended(concat_ws('/', ${keeps.join(', ')}), 0)`;
  return `with summed as materialized (
      select *, ${isSame ? 'key' : keyOf(keeps)} as sum_key from usage_rollups
      where organisation_id = $1 and grain = '${summed.name}' and starts_at >= $2 and starts_at < $3
        and ($4::int = 1 or ((${hash} % $4::int) + $4::int) % $4::int = $5::int)),
    sums as (
      select sum_key, ${keeps.map((one) => `${valueIn(one)} as ${one}`).join(', ')}, min(first_at) as first_at, max(last_at) as last_at, ${added}
      from summed group by 1)
    insert into usage_rollups (organisation_id, grain, starts_at, key, ${keeps.join(', ')}, first_at, last_at, ${measureNames.join(', ')}, latency, retries)
    select $1, '${name}', $2, s.sum_key, ${keeps.map((one) => `s.${one}`).join(', ')}, s.first_at, s.last_at,
      ${measureNames.map((one) => `s.${one}`).join(', ')}, coalesce(l.latency, '{}'), coalesce(r.retries, '{}')
    from sums s left join ${counts('latency')} l using (sum_key) left join ${counts('retries')} r using (sum_key)
    order by s.sum_key`;
}
