import { IsolationLevel } from '@mikro-orm/core';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { type Grain, grains, hoursAndDays, weekMs } from '../../analytics/grains.ts';
import { isCountedInSql, measuresInSql } from '../../analytics/measures.ts';
import { days, type Spans, summedSpans, weeks } from '../../analytics/sum-days.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { billedAmount, entrySources } from '../../leases/entry-sources.ts';
import { keptSince, type Retention } from '../logs/retention.ts';

/** A sum that differs from the sum over records. Amounts are in tokens, requests or nano-USD, as whole decimal numbers. */
interface Difference {
  /** Names the window of a budget, the record or the roll-ups. */
  readonly where: string;
  readonly expected: string;
  readonly found: string;
}

export interface Verification {
  /** Records, budgets and roll-ups were compared as they were at this time. */
  readonly cutOff: Date;
  readonly records: number;
  readonly entries: number;
  readonly windows: number;
  /** Windows, days and weeks that began before records were deleted, and so cannot be compared. */
  readonly skipped: number;
  readonly differences: readonly Difference[];
}

/** Rows per statement, so that each ends well within the time limit of queries. */
const batchRows = 10_000;
const comparedMeasures = ['requests', 'errors', 'cost_nano', 'input_tokens', 'output_tokens'] as const;
type Measure = (typeof comparedMeasures)[number];
/** A grain of hours, or one of days, quarters or weeks with the hours of those that are not summed. */
interface Compared {
  readonly hours: Grain;
  readonly sums: Grain;
  readonly until: Spans['until'];
}

/** Grains of users do not contain all requests. */
const comparedSums: readonly Compared[] = summedSpans
  .flatMap(({ grains: pairs, until }) => pairs.map(([summed, sums]) => ({ hours: hoursOf(summed), sums, until })))
  .filter(({ hours }) => hours !== grains.hourUser);
const comparedGrains: readonly Compared[] = [
  ...[...new Set(comparedSums.map(({ hours }) => hours))].map((hours) => ({ hours, sums: hours, until: days.until })),
  ...comparedSums,
];

/**
 * Compares, in one snapshot of the database and without writing: every window of every budget with the sum of its entries, the entries of
 * sessions with their records, and the roll-ups of every day and week with the records. Records, entries, budgets and roll-ups change in one
 * transaction, so they agree in every snapshot, also while requests are served. Sums that began before `retention` are not compared.
 */
export function verifyLedger(em: EntityManager, retention: Retention): Promise<Verification> {
  return em.fork().transactional((tx) => compareAll(tx, retention), {
    isolationLevel: IsolationLevel.REPEATABLE_READ,
    readOnly: true,
  });
}

async function compareAll(tx: EntityManager, retention: Retention): Promise<Verification> {
  const [{ now }] = await ask<[{ now: Date | string }]>(tx, 'select now() as now');
  const sums = await sumRecords(tx);
  const budgets = await readBudgets(tx);
  const owners = await readOwners(tx);
  const firstDayOf = (organisation: string) => Math.ceil(keptSince(retention, organisation) / dayMs) * dayMs;
  const results = [
    compare(sums.windows, budgets, ([key = '', start]) =>
      Number(start) < keptSince(retention, owners.get(key) ?? null) ? null : `budget ${key}, window of ${isoOf(start)}`,
    ),
    ...(await Promise.all(
      comparedGrains.map(async (compared) =>
        compare(
          compared.until === weeks.until ? weeksOf(sums.days) : sums.days,
          await readRollups(tx, compared),
          ([organisation = '', day = '', measure]) =>
            Date.parse(day) < firstDayOf(organisation)
              ? null
              : `roll-ups by ${compared.sums.name} of organisation ${organisation}, ${day}, ${measure}`,
        ),
      ),
    )),
  ];
  return {
    cutOff: new Date(now),
    ...{ records: sums.records, entries: sums.entries, windows: budgets.size },
    skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
    differences: [...results.flatMap(({ differences }) => differences), ...(await wrongOwnEntries(tx))],
  };
}

interface Sums {
  records: number;
  entries: number;
  /** By `<key> <start of the window>`. */
  readonly windows: Map<string, bigint>;
  /** By `<organisation> <day> <measure>`. */
  readonly days: Map<string, bigint>;
}

const start = ['-infinity', '00000000-0000-0000-0000-000000000000'] as const;
const end = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;

/** Sums the entries and the measures of all records, batch by batch. */
async function sumRecords(tx: EntityManager): Promise<Sums> {
  const sums: Sums = { records: 0, entries: 0, windows: new Map(), days: new Map() };
  for (let after: readonly string[] = start; after !== end; ) {
    const [last] = await ask<{ at: string; id: string }[]>(
      tx,
      `select created_at::text as at, id from request_records where created_at >= $1 and (created_at, id) > ($1, $2::uuid)
       order by created_at, id offset ${batchRows - 1} limit 1`,
      after,
    );
    const upTo: readonly string[] = last ? [last.at, last.id] : end;
    const range =
      '(r.created_at, r.id) > ($1, $2::uuid) and (r.created_at, r.id) <= ($3, $4::uuid) and r.created_at between $1 and $3';
    for (const { from, where, amount } of Object.values(entrySources)) {
      const found = await ask<{ id: string; count: number; amount: string }[]>(
        tx,
        `select e.key || ' ' || e.start_ms as id, count(*)::int as count, sum(${amount})::text as amount
         from ${from} where ${where} and e.start_ms > 0 and ${range} group by 1`,
        [...after, ...upTo],
      );
      for (const one of found) {
        sums.entries += one.count;
        add(sums.windows, one.id, one.amount);
      }
    }
    const days = await ask<({ id: string } & Record<Measure, string>)[]>(
      tx,
      `select organisation_id || ' ' || to_char(at, 'YYYY-MM-DD') as id, ${sumOf(comparedMeasures)}
       from (select r.organisation_id, r.created_at at time zone 'UTC' as at, ${measuresInSql} from request_records r
         where r.organisation_id is not null and ${isCountedInSql} and ${range}) measured group by 1`,
      [...after, ...upTo],
    );
    for (const row of days) {
      sums.records += Number(row.requests);
      for (const name of comparedMeasures) add(sums.days, `${row.id} ${name}`, row[name]);
    }
    after = upTo;
  }
  return sums;
}

/** Returns the organisation of every budget by key. */
async function readOwners(tx: EntityManager): Promise<Map<string, string>> {
  const rows = await ask<{ key: string; organisation_id: string }[]>(
    tx,
    'select distinct key, organisation_id from (select key, organisation_id from limit_budgets union select key, organisation_id from limit_past_windows) w',
  );
  return new Map(rows.map(({ key, organisation_id }) => [key, organisation_id]));
}

/** Returns the usage of every window. */
async function readBudgets(tx: EntityManager): Promise<Map<string, bigint>> {
  const found = new Map<string, bigint>();
  const sources = [
    `select key, start_ms, case when unit = 'cost' then used * 1000 + used_nano_rest else used end as amount from limit_budgets`,
    'select key, start_ms, amount from limit_past_windows',
  ];
  for (const source of sources) {
    for (let after: readonly [string, string] | null = ['', '0']; after; ) {
      const rows: { key: string; start_ms: number | string; amount: string }[] = await ask(
        tx,
        `select key, start_ms, amount::text as amount from (${source}) w where (key, start_ms) > ($1, $2::bigint)
         order by key, start_ms limit ${batchRows}`,
        after,
      );
      for (const { key, start_ms, amount } of rows) add(found, `${key} ${start_ms}`, amount);
      const last = rows.length === batchRows ? rows.at(-1) : undefined;
      after = last ? [last.key, String(last.start_ms)] : null;
    }
  }
  return found;
}

async function readRollups(tx: EntityManager, { hours, sums, until }: Compared): Promise<Map<string, bigint>> {
  const found = new Map<string, bigint>();
  const length = `interval '${Math.max(dayMs, sums.lengthMs)} milliseconds'`;
  const isKept = until === weeks.until ? 'starts_at >= d.weeks_from' : 'true';
  const rows = await ask<({ id: string } & Record<Measure, string>)[]>(
    tx,
    `select organisation_id || ' ' || to_char(date_bin(${length}, starts_at, 'epoch') at time zone 'UTC', 'YYYY-MM-DD') as id, ${sumOf(comparedMeasures)}
     from usage_rollups r left join rollup_days d using (organisation_id)
     where case when starts_at < coalesce(d.${until}, '-infinity') and ${isKept} then grain = $2 else grain = $1 end group by 1`,
    [hours.name, sums.name],
  );
  for (const row of rows) for (const name of comparedMeasures) add(found, `${row.id} ${name}`, row[name]);
  return found;
}

/** Adds sums of days to sums of weeks. */
function weeksOf(sumsOfDays: ReadonlyMap<string, bigint>): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>();
  for (const [id, amount] of sumsOfDays) {
    const [organisation = '', day = '', measure = ''] = id.split(' ');
    const week = new Date(Math.floor(Date.parse(day) / weekMs) * weekMs).toISOString().slice(0, 10);
    add(found, `${organisation} ${week} ${measure}`, String(amount));
  }
  return found;
}

/** Returns the records whose stored entries do not sum up to their figures. */
async function wrongOwnEntries(tx: EntityManager): Promise<Difference[]> {
  const { from } = entrySources.own;
  const rows = await ask<{ record_id: string; key: string; expected: string; found: string }[]>(
    tx,
    `select * from (select e.record_id, e.key, max(${billedAmount})::text as expected, sum(e.amount)::text as found
       from ${from}
       where r.outcome <> 'interrupted' and b.unit <> 'requests' and exists (
         select from jsonb_array_elements(r.record->'reservations') one where one->>'key' = e.key)
       group by 1, 2) o where expected <> found order by record_id, key limit ${batchRows}`,
  );
  return rows.map(({ record_id, key, ...amounts }) => ({ where: `record ${record_id}, budget ${key}`, ...amounts }));
}

/** `nameOf` returns null for a sum that cannot be compared. */
function compare(
  expected: ReadonlyMap<string, bigint>,
  found: ReadonlyMap<string, bigint>,
  nameOf: (parts: readonly string[]) => string | null,
): { readonly skipped: number; readonly differences: readonly Difference[] } {
  const differences: Difference[] = [];
  let skipped = 0;
  for (const id of new Set([...expected.keys(), ...found.keys()])) {
    const where = nameOf(id.split(' '));
    const [should, is] = [expected.get(id) ?? 0n, found.get(id) ?? 0n];
    if (where === null) skipped += 1;
    else if (should !== is) differences.push({ where, expected: String(should), found: String(is) });
  }
  return { skipped, differences };
}

/** The grain of hours that a grain of days sums, or the grain itself if it is one of hours. */
function hoursOf(summed: Grain): Grain {
  return hoursAndDays.find(([, sums]) => sums === summed)?.[0] ?? summed;
}

function add(sums: Map<string, bigint>, id: string, amount: string): void {
  sums.set(id, (sums.get(id) ?? 0n) + BigInt(amount));
}

function sumOf(names: readonly string[]): string {
  return names.map((name) => `sum(${name})::text as ${name}`).join(', ');
}

function isoOf(ms: string | undefined): string {
  return new Date(Number(ms)).toISOString();
}

async function ask<Rows>(tx: EntityManager, text: string, values: readonly unknown[] = []): Promise<Rows> {
  return (await executeBound(tx, text, values)) as Rows;
}
