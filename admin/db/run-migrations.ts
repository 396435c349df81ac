import { setTimeout as pause } from 'node:timers/promises';
import type { Constructor, MigrationObject } from '@mikro-orm/core';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '../../core/contract/values/log/log.ts';
import { isLockDenied } from './is-lock-denied.ts';

/**
 * Maximum milliseconds that a statement of a migration waits for a lock. Shorter than the second after which PostgreSQL checks
 * for deadlocks (`deadlock_timeout`): if a migration and a running version wait for each other, the migration gives way.
 */
export const migrationLockWaitMs = 400;

/**
 * Lifts the time limits of the database's role until the end of the transaction, because a new index on many records takes minutes. The other
 * statements of the service keep them. `transaction_timeout` exists since PostgreSQL 17.
 */
export const liftTimeLimits =
  "select set_config(name, '0', true) from pg_settings " +
  "where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')";

/** The methods of a migration used here. The ORM declares the first one as abstract, and `super` cannot call such a method. */
interface Limited {
  up(): Promise<void> | void;
  execute(statement: string): Promise<unknown>;
}

/** Returns the same migrations, whose transactions begin with `liftTimeLimits`. */
export function withoutTimeLimits(migrations: readonly MigrationObject[]): MigrationObject[] {
  return migrations.map(({ name, class: limited }) => {
    const Unlimited = class extends (limited as unknown as Constructor<Limited>) {
      override async up(): Promise<void> {
        await this.execute(liftTimeLimits);
        await super.up();
      }
    };
    return { name, class: Unlimited as unknown as MigrationObject['class'] };
  });
}

const patienceMs = 120_000;
const nothing = async (): Promise<void> => {};

/**
 * Updates the tables, one migration and one transaction at a time, while older versions keep running. The caller holds the
 * migration lock. Rejects if a migration is invalid, or could not get its locks for two minutes; `lockDenied` runs before each
 * further attempt. Logs a warning if a newer version has changed the tables; migrations keep what older versions use, so this one
 * works.
 */
export async function runMigrations(
  { migrator }: Pick<MikroORM, 'migrator'>,
  migrations: readonly { readonly name: string }[],
  log: Log,
  lockDenied = nothing,
): Promise<void> {
  const progress = { atMs: performance.now() };
  migrator.on('migrated', async () => {
    progress.atMs = performance.now();
  });
  // After a failure, the next call continues with the migration that failed.
  await patiently(() => migrator.up(), lockDenied, progress);
  const known = new Set(migrations.map(({ name }) => name));
  const newer = (await migrator.getExecuted()).flatMap(({ name }) => (known.has(name) ? [] : [name]));
  if (newer.length === 0) return;
  log.warn(
    { newer },
    'a newer version has changed the tables of this database. Upgrade this control plane, or restore the backup',
  );
}

/** Runs the work again while others hold the locks it needs. Gives up two minutes after the start or the last progress. */
export async function patiently<T>(
  work: () => Promise<T>,
  lockDenied = nothing,
  progress = { atMs: performance.now() },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockDenied(error) || performance.now() > progress.atMs + patienceMs) throw error;
      await lockDenied();
      await pause(50 + Math.random() * 200);
    }
  }
}
