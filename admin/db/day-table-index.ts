import { Migration } from '@mikro-orm/migrations';
import type { DayTable } from './day-partitions.ts';
import { patiently } from './run-migrations.ts';

/**
 * Maximum milliseconds that the build of an index waits for transactions that began before it, such as a `pg_dump`. Reads and writes do not
 * wait for the build meanwhile.
 */
const buildWaitMs = 120_000;

const limits = "('lock_timeout', 'statement_timeout', 'transaction_timeout')";
const setLimits = `select set_config(name, case name when 'lock_timeout' then '${buildWaitMs}' else '0' end, false)
  from pg_settings where name in ${limits}`;
const resetLimits = `select set_config(name, reset_val, false) from pg_settings where name in ${limits}`;

interface Missing {
  readonly partition: string;
  /** Null: no index was built. False: a build was interrupted. */
  readonly isValid: boolean | null;
}

/**
 * Adds an index to a table that is partitioned by day. Each partition gets its index concurrently with reads and writes, because a build on ten
 * million records takes minutes. PostgreSQL permits that outside a transaction only, so an interrupted migration continues when it runs again.
 */
export abstract class DayTableIndex extends Migration {
  protected abstract readonly table: DayTable;
  /** The name of the index without the name of its table. */
  protected abstract readonly suffix: string;
  /** Columns and condition. */
  protected abstract readonly definition: string;

  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    const { table, suffix, definition } = this;
    const index = `${table}_${suffix}`;
    // One connection, because limits are set for a session.
    const client = this.driver.getConnection().getClient();
    await client.connection().execute(async (session) => {
      const run = (sql: string) => this.driver.execute(sql, [], 'all', session as never);
      const missing = async () => (await run(missingOf(table, suffix))) as unknown as Missing[];
      // Invalid until each partition has its index. A partition that is created meanwhile gets one.
      await patiently(() => run(`create index if not exists ${index} on only ${table} ${definition}`));
      for (let [next] = await missing(); next; [next] = await missing()) {
        const own = `${next.partition}_${suffix}`;
        await run(setLimits);
        try {
          if (next.isValid === false) await run(`drop index concurrently ${own}`);
          if (!next.isValid) await run(`create index concurrently ${own} on ${next.partition} ${definition}`);
        } finally {
          await run(resetLimits);
        }
        await patiently(() => run(`alter index ${index} attach partition ${own}`));
      }
    });
  }
}

/** Partitions without an index that belongs to the index of the table. */
function missingOf(table: DayTable, suffix: string): string {
  return `select p.relname as partition, i.indisvalid as "isValid"
    from pg_inherits h join pg_class p on p.oid = h.inhrelid
    left join pg_class c on c.relname = p.relname || '_${suffix}' and c.relnamespace = p.relnamespace
    left join pg_index i on i.indexrelid = c.oid
    where h.inhparent = '${table}'::regclass and not exists (
      select 1 from pg_inherits a join pg_index o on o.indexrelid = a.inhrelid
      where a.inhparent = '${table}_${suffix}'::regclass and o.indrelid = p.oid)
    order by p.relname`;
}
