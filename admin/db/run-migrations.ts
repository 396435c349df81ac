import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '../../core/contract/values/log/log.ts';
import { isLockDenied } from './is-lock-denied.ts';

/**
 * Maximum milliseconds that a statement of a migration waits for a lock. Shorter than the second after which PostgreSQL checks
 * for deadlocks (`deadlock_timeout`): if a migration and a running version wait for each other, the migration gives way.
 */
export const migrationLockWaitMs = 400;

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
