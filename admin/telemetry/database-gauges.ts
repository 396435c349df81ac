import type { Sample } from '../../core/telemetry/histogram.ts';
import type { Database } from '../db/open-database.ts';

/** Budgets with the largest share of use that get a series of their own. */
const budgetsMax = 20;
/** Scrapes within this time read the database once. */
const freshMs = 5_000;

export interface DatabaseState {
  readonly budgets: readonly { readonly scope: string; readonly all: number; readonly exhausted: number }[];
  readonly topBudgets: readonly {
    readonly scope: string;
    readonly entity: string;
    readonly unit: string;
    readonly ratio: number;
  }[];
  readonly jobs: readonly { readonly kind: string; readonly all: number; readonly failing: number }[];
  readonly unpublished: number;
  /** Mails that wait, and the seconds that the oldest one has waited. */
  readonly mails: { readonly waiting: number; readonly oldest: number };
  readonly waitingBodies: number;
  /** Batches of records for ClickHouse, and the seconds that the oldest one has waited. */
  readonly copies: { readonly waiting: number; readonly refused: number; readonly oldest: number };
}

/** Returns a function that reads the counts of the database for gauges, at most once in five seconds. */
export function databaseState(database: Database, now: () => number): () => Promise<DatabaseState> {
  return cached(() => read(database), now);
}

/** Returns a function that reads at most once in five seconds. A failed read is repeated at the next call. */
export function cached<Value>(read: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let last: { readonly atMs: number; readonly value: Promise<Value> } | null = null;
  return () => {
    if (last !== null && now() - last.atMs <= freshMs) return last.value;
    const value = read();
    last = { atMs: now(), value };
    value.catch(() => {
      last = null;
    });
    return value;
  };
}

async function read(database: Database): Promise<DatabaseState> {
  const em = database.em();
  const rows = <Row>(sql: string, params: readonly unknown[] = []) => em.execute<Row[]>(sql, [...params], 'all');
  const budgets = await rows<DatabaseState['budgets'][number]>(
    `select scope, count(*)::int as all, count(exhausted_at)::int as exhausted from limit_budgets group by scope order by scope`,
  );
  const topBudgets = await rows<DatabaseState['topBudgets'][number]>(
    `select scope, entity_id as entity, unit, max(used::float8 / capacity) as ratio from limit_budgets where capacity > 0 and used > 0
     group by scope, entity_id, unit order by ratio desc, entity_id limit ?`,
    [budgetsMax],
  );
  const jobs = await rows<DatabaseState['jobs'][number]>(
    `select kind, count(*)::int as all, count(*) filter (where attempts > 0)::int as failing from jobs group by kind order by kind`,
  );
  const [outbox] = await rows<{ count: number }>(`select count(*)::int as count from outbox where published_at is null`);
  const [waiting] = await rows<{ count: number }>('select count(*)::int as count from record_contents where waits');
  const [copies = { waiting: 0, refused: 0, oldest: 0 }] = await rows<DatabaseState['copies']>(
    `select count(*) filter (where refused_for is null)::int as waiting, count(refused_for)::int as refused,
       coalesce(extract(epoch from now() - min(created_at) filter (where refused_for is null)), 0)::float8 as oldest from record_copies`,
  );
  const [mails = { waiting: 0, oldest: 0 }] = await rows<DatabaseState['mails']>(
    `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest from mails`,
  );
  return { budgets, topBudgets, jobs, mails, unpublished: outbox?.count ?? 0, waitingBodies: waiting?.count ?? 0, copies };
}

/**
 * Returns a reader of samples from this state. It returns none if the database is unreachable, so that the other metrics are still served.
 */
export function fromState<State>(state: () => Promise<State>, read: (state: State) => Sample[]): () => Promise<Sample[]> {
  return () => state().then(read, () => []);
}
