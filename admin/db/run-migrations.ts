import { setTimeout as pause } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';

/**
 * Longest a statement of a migration waits for a lock, milliseconds. Shorter than the second after which PostgreSQL looks for deadlocks
 * (`deadlock_timeout`): where a migration and a running version wait for each other it is the migration that gives way.
 */
export const migrationLockWaitMs = 400;

const patienceMs = 120_000;
const gaveWay = new Set(['55P03', '40P01']);

/**
 * Brings the tables up to date, one migration and one transaction at a time, beside older versions that go on working. The caller
 * holds the migration lock. Rejects when a migration is wrong, or found no moment to run in for two minutes.
 */
export async function runMigrations(orm: Pick<MikroORM, 'migrator'>): Promise<void> {
  for (const { name } of await orm.migrator.getPending()) await patiently(() => orm.migrator.up(name));
}

/** Runs it again for as long as others hold the locks it needs. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!gaveWay.has(codeOf(error)) || performance.now() > giveUpAtMs) throw error;
      await pause(50 + Math.random() * 200);
    }
  }
}

function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause ? codeOf(cause) : '';
}
