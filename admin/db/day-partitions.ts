import { dayMs } from '../../core/contract/values/time/durations.ts';
import type { EntityManager } from './open-database.ts';

/**
 * A table that is partitioned by `created_at` with one partition per UTC day. `<table>_rest` is its default partition: it takes
 * rows of days without a partition.
 */
export type DayTable = 'request_records' | 'record_contents';

/** Milliseconds that a change of partitions waits for a lock. */
const patienceMs = 1_000;

/**
 * Creates the partitions of this day and of the `days` days after it that do not exist. Rows in the default partition move into
 * theirs. Several control planes may run it at once. Returns the number of created partitions.
 */
export async function createDayPartitions(
  em: EntityManager,
  table: DayTable,
  nowMs: number,
  days: number,
  lockMs = patienceMs,
): Promise<number> {
  let created = 0;
  const today = Math.floor(nowMs / dayMs) * dayMs;
  const existing = await partitionsOf(em, table);
  for (let ahead = 0; ahead <= days; ahead += 1) {
    const startMs = today + ahead * dayMs;
    if (isCovered(existing, table, startMs)) continue;
    if (await createDayPartition(em, table, startMs, { isToday: ahead === 0, lockMs })) created += 1;
  }
  return created;
}

/** The default partition has rows of today if the partitions are created late. */
async function createDayPartition(
  em: EntityManager,
  table: DayTable,
  startMs: number,
  { isToday, lockMs }: { readonly isToday: boolean; readonly lockMs: number },
): Promise<boolean> {
  // The bounds have an offset, because PostgreSQL reads times without one in the time zone of the session.
  const [start, end] = [startMs, startMs + dayMs].map((ms) => new Date(ms).toISOString());
  const name = nameOf(table, startMs);
  return em.fork().transactional(async (tx) => {
    await patience(tx, lockMs);
    await tx.execute('select pg_advisory_xact_lock(hashtext(?))', [table]);
    // Another control plane may have created it meanwhile.
    if (isCovered(await partitionsOf(tx, table), table, startMs)) return false;
    // The whole table is locked only if rows move: a query that was planned with the partitions of before would not find them. Therefore the
    // partition is attached instead of created as one.
    await tx.execute(`lock table ${isToday ? table : `${table}_rest`} in access exclusive mode`);
    await tx.execute(`create table ${name} (like ${table} including defaults)`);
    await tx.execute(
      `with moved as (delete from ${table}_rest where created_at >= ? and created_at < ? returning *)
         insert into ${name} select * from moved`,
      [start, end],
    );
    await tx.execute(`alter table ${table} attach partition ${name} for values from ('${start}') to ('${end}')`);
    return true;
  });
}

/** Drops the partitions that contain only rows created before this time. Returns their number. */
export async function dropPartitionsBefore(em: EntityManager, table: DayTable, before: Date): Promise<number> {
  const old = (await partitionsOf(em, table)).filter(({ end }) => end !== null && end <= before);
  for (const { name } of old) {
    await em.fork().transactional(async (tx) => {
      await patience(tx, patienceMs);
      await tx.execute(`drop table if exists ${name}`);
    });
  }
  return old.length;
}

/** True if the day has a partition, or belongs to the one that the migration made of the earlier table. */
function isCovered(partitions: readonly Partition[], table: DayTable, startMs: number): boolean {
  const name = nameOf(table, startMs);
  return partitions.some((one) => one.name === name || (one.isFirst && one.end !== null && one.end.getTime() > startMs));
}

function nameOf(table: DayTable, startMs: number): string {
  return `${table}_${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

interface Partition {
  readonly name: string;
  /** Null for the default partition. */
  readonly end: Date | null;
  /** True if it has no lower bound. */
  readonly isFirst: boolean;
}

async function partitionsOf(em: EntityManager, table: DayTable): Promise<Partition[]> {
  const rows = await em.execute<{ name: string; ends_at: Date | string | null; is_first: boolean }[]>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) like '%MINVALUE%' as is_first,
       substring(pg_get_expr(c.relpartbound, c.oid) from $re$TO \\('([^']+)'\\)$re$)::timestamptz as ends_at
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = '${table}'::regclass`,
  );
  return rows.map(({ name, ends_at, is_first }) => ({
    name,
    end: ends_at === null ? null : new Date(ends_at),
    isFirst: is_first,
  }));
}

/** Gives way to running requests: a lock that is not free soon is an error, and the next run repeats the work. */
async function patience(tx: EntityManager, lockMs: number): Promise<void> {
  await tx.execute(`set local lock_timeout = ${lockMs}`);
}
