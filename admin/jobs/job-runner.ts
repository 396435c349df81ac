import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { Database } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';
import { type Job, openJobTable } from './job-table.ts';

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
const closingMs = 5_000;

/** Runs jobs until it is closed. Several control planes share the table: each job is leased by one of them at a time. */
export function startJobRunner({ handlers, database, log, runningMax = 8, leaseMs }: JobRunnerOptions): JobRunner {
  const renewMs = leaseMs / 4;
  const stop = new AbortController();
  const table = openJobTable(database, Object.keys(handlers), leaseMs);
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  /** Maximum number of running jobs of one organisation, so that others still have room. */
  const share = Math.ceil(runningMax * 0.75);
  let nudge: (() => void) | null = null;
  let wasNudged = false;

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      wasNudged = false;
      let mayBeMore = false;
      // The embedded database replies without a turn of the event loop: jobs that are due again at once would stop all requests.
      await nextTurn();
      if (stop.signal.aborted) return;
      try {
        mayBeMore = await takeOne();
      } catch (cause) {
        log.warn(failureFields(cause), 'could not read pending jobs');
      }
      if (stop.signal.aborted) return;
      // All slots are busy. A job that ends wakes the loop.
      if (mayBeMore && running.size < runningMax) continue;
      await pause(mayBeMore ? renewMs : pollMs);
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

  /** Begins the next job. Returns false if none is due, and true if more may be due. */
  async function takeOne(): Promise<boolean> {
    if (running.size >= runningMax) return true;
    // One at a time, so that each sees what earlier jobs have taken of the share.
    const atShare = [...runningOf].flatMap(([organisation, count]) => (count >= share ? [organisation] : []));
    const job = await table.take(atShare);
    if (job === null) return false;
    begin(job);
    return true;
  }

  function begin(job: Job): void {
    const { organisationId } = job;
    count(organisationId, 1);
    const work = run(job).finally(() => {
      count(organisationId, -1);
      running.delete(work);
      wake();
    });
    running.add(work);
  }

  function count(organisation: string | null, change: number): void {
    if (organisation === null) return;
    const now = (runningOf.get(organisation) ?? 0) + change;
    if (now === 0) runningOf.delete(organisation);
    else runningOf.set(organisation, now);
  }

  async function run(job: Job): Promise<void> {
    const ends = new AbortController();
    // `AbortSignal.any` with `stop` would leak memory in each run: nodejs/node#64476.
    const end = () => ends.abort();
    stop.signal.addEventListener('abort', end);
    if (stop.signal.aborted) end();
    const renewing = setInterval(() => {
      table.renew(job).then(
        (mine) => mine || end(),
        () => {},
      );
    }, renewMs);
    try {
      const { signal } = ends;
      const handler = handlers[job.kind] as JobHandler;
      const outcome = await handler({ key: job.key, organisationId: job.organisationId, payload: job.payload, signal });
      await (outcome === 'done' ? table.remove(job) : table.postpone(job, outcome.againInMs));
    } catch (cause) {
      if (!stop.signal.aborted)
        // Values of `key` are masked in the log.
        log.warn({ kind: job.kind, job: job.key, ...failureFields(cause) }, 'job failed; it will be retried');
      await table.giveBack(job, stop.signal.aborted ? null : cause).catch(() => {});
    } finally {
      clearInterval(renewing);
      stop.signal.removeEventListener('abort', end);
    }
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
