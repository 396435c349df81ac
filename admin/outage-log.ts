import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../core/contract/values/log/log.ts';
import type { DatabaseProblem } from './database-problem.ts';

export interface OutageLog extends Log {
  /** Returns the problem of the database's disk, which reads do not show; null if no write has failed recently. */
  diskProblem(): DatabaseProblem | null;
  /** Ends the check for the end of an outage. */
  close(): void;
}

const descriptions: Readonly<Record<DatabaseProblem, string>> = {
  unreachable: 'the database cannot be reached. Check DATABASE_URL and the database',
  'disk-full': 'the disk of the database is full. Free space there',
  'disk-failed': 'the disk of the database is read-only or fails. Check it',
  'read-only': 'the database is read-only, such as a standby. Check that DATABASE_URL names the primary',
};

/** Lines of failures in a minute in which the database can be reached, such as when a table is locked. */
const linesPerMinuteMax = 10;
const omittedText =
  'similar lines omitted, although the database can be reached. If they are about it, check its load and its locks (pg_stat_activity)';

/** Errors of the disk by their code. PostgreSQL reports a read-only file system as a missing right. */
const diskProblems: Readonly<Record<string, DatabaseProblem>> = {
  '53100': 'disk-full',
  '42501': 'disk-failed',
  '58030': 'disk-failed',
};
/** Checks for which the disk counts as a problem after the last write that failed. Reads succeed meanwhile, and writes may pause. */
const checksAfterDiskProblem = 10;

/**
 * Wraps a log so that an outage of the database does not fill it: one line at the beginning, one at the end, and no line for each request that
 * fails meanwhile. While the database can be reached, failures are at most ten lines per minute. A problem of the disk counts until no write has failed for ten checks. A failure with `error.databaseAway` starts a check,
 * because refused connections may also be those of other hosts. `check` is repeated every `everyMs` until it finds no problem.
 */
export function createOutageLog(
  log: Log,
  check: () => Promise<DatabaseProblem | null>,
  everyMs = 1_000,
  minuteMs = 60_000,
): OutageLog {
  const closing = new AbortController();
  let state: 'reachable' | 'checking' | 'away' = 'reachable';
  let written = 0;
  let omitted = 0;
  let minute: NodeJS.Timeout | null = null;
  let diskProblem: DatabaseProblem | null = null;
  let checksWithDiskProblem = 0;

  const findProblem = async (): Promise<DatabaseProblem | null> => {
    const counts = checksWithDiskProblem > 0;
    if (counts) checksWithDiskProblem -= 1;
    return (await check()) ?? (counts ? diskProblem : null);
  };

  const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false });

  async function watch(): Promise<void> {
    const startedAtMs = performance.now();
    // The pool may still hold the connection that has just failed.
    await pause(everyMs / 10);
    for (let problem = await findProblem(); problem !== null && !closing.signal.aborted; problem = await findProblem()) {
      if (state === 'checking') {
        state = 'away';
        log.error({}, `${descriptions[problem]}. Requests that need it get 503; their failures are not logged until it works`);
      }
      await pause(everyMs);
    }
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const wasAway = state === 'away';
    state = 'reachable';
    if (!wasAway) return;
    log.info({ seconds, omitted }, 'the database works again');
    written = 0;
    omitted = 0;
  }

  function endMinute(): void {
    minute = null;
    written = 0;
    if (state === 'away' || omitted === 0) return;
    log.warn({ omitted }, omittedText);
    omitted = 0;
  }

  /** True if the line is to be written. */
  function admit(fields: object): boolean {
    const { error } = fields as { error?: { databaseAway?: boolean; code?: string | null } };
    if (error?.databaseAway !== true) return true;
    const ofDisk = diskProblems[String(error.code)];
    if (ofDisk !== undefined) [diskProblem, checksWithDiskProblem] = [ofDisk, checksAfterDiskProblem];
    if (state === 'reachable' && !closing.signal.aborted) {
      state = 'checking';
      watch().catch(() => {});
    }
    minute ??= setTimeout(endMinute, minuteMs).unref();
    if (state !== 'away' && ++written <= linesPerMinuteMax) return true;
    omitted += 1;
    return false;
  }

  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => {
      if (admit(fields)) log.warn(fields, message);
    },
    error: (fields, message) => {
      if (admit(fields)) log.error(fields, message);
    },
    diskProblem: () => (checksWithDiskProblem > 0 ? diskProblem : null),
    close() {
      closing.abort();
      if (minute) clearTimeout(minute);
    },
  };
}
