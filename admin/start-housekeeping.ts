import type { Settings } from '../config/settings.ts';
import type { Log } from '../core/contract/plugin.ts';
import { anchorChains } from './audit/anchors.ts';
import { causeOf } from './cause-of.ts';
import type { Database } from './db/open-database.ts';
import { forgetExpiredKeys } from './http/idempotency/repeat.ts';
import { forgetEnded } from './identity/forget-ended.ts';
import { clearPassedBudgets, forgetOldWindows } from './leases/keep-ledger.ts';
import type { Mailer } from './mail/mailer.ts';
import { forgetOldSecrets, tellOfRotations } from './resources/api-keys/rotation-notices.ts';
import { forgetFiles } from './resources/files/forget-files.ts';
import { forgetOldRecords, retentionStart } from './resources/logs/forget-old-records.ts';

/** Work that nobody asks for and that may be late. */
export interface Housekeeping {
  /** Waits for what is running. */
  close(): Promise<void>;
}

const everyMs = 3_600_000;

/** Runs every job at once and then every hour, one after the other; a job that fails is logged and tried again an hour later. */
export function startHousekeeping(settings: Settings, database: Database, mailer: Mailer, log: Log): Housekeeping {
  const jobs: (() => Promise<unknown>)[] = [
    () => anchorChains(settings, database, log),
    () => forgetExpiredKeys(database.em()),
    () => forgetOldSecrets(database.em(), new Date()),
    () => forgetFiles(database.em(), new Date()),
    () => forgetEnded(database.em(), { idleTtlSeconds: settings.sessionIdleSeconds }, new Date()),
    () => forgetOldWindows(database, Date.now()),
    () => clearPassedBudgets(database, Date.now()),
    () => tellOfRotations(database.em(), mailer, new Date()),
    () => forgetRecords(),
  ];
  let closed = false;

  async function forgetRecords(): Promise<void> {
    const before = retentionStart(settings.recordRetentionDays, Date.now());
    if (before === null) return;
    const deleted = await forgetOldRecords(database.em(), before, () => closed);
    if (deleted === 0) return;
    log.info({ deleted, before: before.toISOString() }, 'request records older than RECORD_RETENTION_DAYS deleted');
    // The embedded database has no autovacuum: without this the file would never reuse the space.
    if (settings.databaseUrl === null && !closed) await database.em().execute('vacuum request_records');
  }

  async function run(): Promise<void> {
    for (const job of jobs) {
      if (closed) return;
      try {
        await job();
      } catch (cause) {
        log.warn({ cause: causeOf(cause) }, 'a housekeeping job failed; it is tried again in an hour');
      }
    }
  }

  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, everyMs);
  timer.unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}
