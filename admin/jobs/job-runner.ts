import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/contract/values/log/log.ts';
import { newId } from '../db/new-id.ts';
import type { Database } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';

/** Data that a handler receives. */
interface JobRun {
  readonly key: string;
  readonly organisationId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Aborted when this process stops or has lost the job to another one. The handler must then stop soon; completed steps stay.
   */
  readonly signal: AbortSignal;
}

/** `done` deletes the job. `againInMs` runs it again after that time. A throw repeats the run with growing delay. */
type JobOutcome = 'done' | { readonly againInMs: number };

/**
 * Runs one kind of job. A handler may be killed at any point and is then run again, perhaps by another process, so it must
 * determine which steps remain. Two concurrent runs are rare (a process that was suspended for longer than its lease) but must do
 * no harm.
 */
export type JobHandler = (run: JobRun) => Promise<JobOutcome>;

export interface JobRunner {
  /** Checks for work now instead of at the next interval. */
  wake(): void;
  /** Takes no more jobs, aborts the running ones, waits for them, and releases them at once. */
  close(): Promise<void>;
}

export interface JobRunnerOptions {
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly database: Database;
  readonly log: Log;
  /** Maximum number of concurrent jobs in this process, at most three quarters of them of one organisation. Default 8. */
  readonly runningMax?: number;
  /** Milliseconds for which a job stays with a process that does not renew its lease. Leases are renewed after every quarter. */
  readonly leaseMs: number;
}

const pollMs = 1_000;
const backoffMsMax = 300_000;

interface Taken {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly organisation_id: string | null;
  readonly payload: Record<string, unknown>;
  readonly attempts: number;
}

/** Runs jobs until it is closed. Several control planes share the table: each job is leased by one of them at a time. */
export function startJobRunner({ handlers, database, log, runningMax = 8, leaseMs }: JobRunnerOptions): JobRunner {
  const leaseSeconds = leaseMs / 1000;
  const renewMs = leaseMs / 4;
  const leaseId = newId();
  const stop = new AbortController();
  const kinds = Object.keys(handlers);
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  /** Maximum number of running jobs of one organisation, so that others still have room. */
  const share = Math.ceil(runningMax * 0.75);
  let nudge: (() => void) | null = null;
  let wasNudged = false;

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      wasNudged = false;
      let taken = 0;
      // The embedded database replies without a turn of the event loop: jobs that are due again at once would stop all requests.
      await nextTurn();
      if (stop.signal.aborted) return;
      try {
        taken = await takeSome();
      } catch (cause) {
        log.warn(failureFields(cause), 'could not read pending jobs');
      }
      if (stop.signal.aborted) return;
      // All slots are busy. A job that ends wakes the loop.
      if (taken > 0 && running.size < runningMax) continue;
      await pause(taken > 0 ? renewMs : pollMs);
    }
  }

  function pause(ms: number): Promise<void> {
    if (wasNudged) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      nudge = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function takeSome(): Promise<number> {
    if (running.size >= runningMax) return 1;
    // One at a time, so that each sees what earlier jobs have taken of the share. Materialized: PostgreSQL may run a subquery in the
    // condition of an update once per row, and would then take more than one.
    const atShare = [...runningOf].flatMap(([organisation, count]) => (count >= share ? [organisation] : []));
    const others = atShare.length === 0 ? '' : `and (organisation_id is null or organisation_id not in (${marks(atShare)}))`;
    const rows = await database.em().execute<Taken[]>(
      `with due as materialized (
         select id from jobs
         where run_at <= now() and (leased_until is null or leased_until < now()) and kind in (${marks(kinds)}) ${others}
         order by run_at limit 1 for update skip locked)
       update jobs set lease_id = ?, leased_until = now() + make_interval(secs => ?) from due where jobs.id = due.id
       returning jobs.id, jobs.kind, jobs.key, jobs.organisation_id, jobs.payload, jobs.attempts`,
      [...kinds, ...atShare, leaseId, leaseSeconds],
    );
    for (const job of rows) {
      const organisation = job.organisation_id;
      count(organisation, 1);
      const work = run(job).finally(() => {
        count(organisation, -1);
        running.delete(work);
        wake();
      });
      running.add(work);
    }
    return rows.length;
  }

  function count(organisation: string | null, change: number): void {
    if (organisation === null) return;
    const now = (runningOf.get(organisation) ?? 0) + change;
    if (now === 0) runningOf.delete(organisation);
    else runningOf.set(organisation, now);
  }

  async function run(job: Taken): Promise<void> {
    const ends = new AbortController();
    // `AbortSignal.any` with `stop` would leak memory in each run: nodejs/node#64476.
    const end = () => ends.abort();
    stop.signal.addEventListener('abort', end);
    if (stop.signal.aborted) end();
    const renewing = setInterval(() => {
      renew(job).then(
        (mine) => mine || end(),
        () => {},
      );
    }, renewMs);
    try {
      const { signal } = ends;
      const handler = handlers[job.kind] as JobHandler;
      const outcome = await handler({ key: job.key, organisationId: job.organisation_id, payload: job.payload, signal });
      await settle(job, outcome);
    } catch (cause) {
      if (!stop.signal.aborted)
        // Values of `key` are masked in the log.
        log.warn({ kind: job.kind, job: job.key, ...failureFields(cause) }, 'job failed; it will be retried');
      await giveBack(job, stop.signal.aborted ? null : cause).catch(() => {});
    } finally {
      clearInterval(renewing);
      stop.signal.removeEventListener('abort', end);
    }
  }

  async function renew(job: Taken): Promise<boolean> {
    const rows = await database
      .em()
      .execute<unknown[]>(
        'update jobs set leased_until = now() + make_interval(secs => ?) where id = ? and lease_id = ? returning id',
        [leaseSeconds, job.id, leaseId],
      );
    return rows.length > 0;
  }

  async function settle(job: Taken, outcome: JobOutcome): Promise<void> {
    if (outcome === 'done') {
      await database.em().execute('delete from jobs where id = ? and lease_id = ?', [job.id, leaseId]);
      return;
    }
    await database.em().execute(
      `update jobs set lease_id = null, leased_until = null, attempts = 0, last_error = null,
         run_at = now() + make_interval(secs => ?) where id = ? and lease_id = ?`,
      [outcome.againInMs / 1000, job.id, leaseId],
    );
  }

  /** Releases the job: after a failure with growing delay, after a stop at once, for any process. */
  async function giveBack(job: Taken, cause: unknown): Promise<void> {
    const delayMs = cause === null ? 0 : Math.min(backoffMsMax, 1_000 * 2 ** Math.min(job.attempts, 10));
    await database.em().execute(
      `update jobs set lease_id = null, leased_until = null, attempts = attempts + ?, last_error = coalesce(?, last_error),
         run_at = now() + make_interval(secs => ?) where id = ? and lease_id = ?`,
      [
        cause === null ? 0 : 1,
        cause === null ? null : failureFields(cause).reason.slice(0, 500),
        delayMs / 1000,
        job.id,
        leaseId,
      ],
    );
  }

  function wake(): void {
    wasNudged = true;
    nudge?.();
  }

  const looping = loop();
  return {
    wake,
    async close() {
      stop.abort();
      wake();
      await looping;
      // A handler that ignores the abort is abandoned. Its lease ends by itself.
      await Promise.race([Promise.all(running), sleep(closingMs, undefined, { ref: false })]);
    },
  };
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

const closingMs = 5_000;
