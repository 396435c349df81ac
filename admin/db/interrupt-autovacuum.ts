import type { EntityManager } from '@mikro-orm/postgresql';
import { isLockDenied } from './is-lock-denied.ts';

/** Longer than `deadlock_timeout`, after which a waiting session makes autovacuum end. */
const lockedTables = `
  select l.relation::regclass::text as "table", (s.setting::int + 500)::int as "waitMs"
  from pg_locks l
  join pg_class c on c.oid = l.relation and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  cross join pg_settings s
  where l.database = (select oid from pg_database where datname = current_database())
    and pg_has_role(c.relowner, 'usage')
    and l.mode = 'ShareUpdateExclusiveLock' and l.granted and l.pid <> pg_backend_pid() and s.name = 'deadlock_timeout'`;

/**
 * Ends autovacuum of tables that a migration waits for. It may run for an hour on a large table, and gives way only to a session
 * that waits longer than migrations do. The lock requested here is one that reads and writes do not wait for.
 */
export async function interruptAutovacuum(em: EntityManager): Promise<void> {
  for (const { table, waitMs } of await em.execute<{ table: string; waitMs: number }[]>(lockedTables)) {
    try {
      await em.transactional(async (tx) => {
        await tx.execute(`set local lock_timeout = ${waitMs}`);
        await tx.execute(`lock table only ${table} in share update exclusive mode`);
      });
    } catch (error) {
      // A person's `vacuum`, or one that prevents wraparound, does not give way.
      if (!isLockDenied(error)) throw error;
    }
  }
}
