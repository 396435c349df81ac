import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '../../core/contract/values/log/log.ts';

/**
 * Maximum milliseconds that a statement of a migration waits for a lock. Shorter than the second after which PostgreSQL checks
 * for deadlocks (`deadlock_timeout`): if a migration and a running version wait for each other, the migration gives way.
 */
export const migrationLockWaitMs = 400;

const patienceMs = 120_000;
const gaveWay = new Set(['55P03', '40P01']);

/**
 * Updates the tables, one migration and one transaction at a time, while older versions keep running. The caller holds the
 * migration lock. Rejects if a migration is invalid, or could not get its locks for two minutes. Logs a warning if a newer
 * version has changed the tables; migrations keep what older versions use, so this one works.
 */
export async function runMigrations(
  { migrator }: Pick<MikroORM, 'migrator'>,
  migrations: readonly { readonly name: string }[],
  log: Log,
): Promise<void> {
  const progress = { atMs: performance.now() };
  migrator.on('migrated', async () => {
    progress.atMs = performance.now();
  });
  // After a failure, the next call continues with the migration that failed.
  await patiently(() => migrator.up(), progress);
  const known = new Set(migrations.map(({ name }) => name));
  const newer = (await migrator.getExecuted()).flatMap(({ name }) => (known.has(name) ? [] : [name]));
  if (newer.length === 0) return;
  log.warn(
    { newer },
    'a newer version has changed the tables of this database. Upgrade this control plane, or restore the backup',
  );
}

/** Runs the work again while others hold the locks it needs. Gives up two minutes after the start or the last progress. */
export async function patiently<T>(work: () => Promise<T>, progress = { atMs: performance.now() }): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!gaveWay.has(codeOf(error)) || performance.now() > progress.atMs + patienceMs) throw error;
      await pause(50 + Math.random() * 200);
    }
  }
}

function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause ? codeOf(cause) : '';
}
