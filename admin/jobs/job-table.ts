import { newId } from '../db/new-id.ts';
import type { Database } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';

/** A job that this process has leased. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly organisationId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Failed runs since the last one that succeeded. */
  readonly attempts: number;
}

/** The jobs of a few kinds, as one process sees them. Statements about a job whose lease another process has taken change nothing. */
export interface JobTable {
  /** Leases the job that is due for the longest time. `without`: organisations whose jobs are left out. Null if none is due. */
  take(without: readonly string[]): Promise<Job | null>;
  /** Extends the lease. False if another process has the job. */
  renew(job: Job): Promise<boolean>;
  remove(job: Job): Promise<void>;
  /** Releases the job after a run that succeeded, and makes it due after `ms`. */
  postpone(job: Job, ms: number): Promise<void>;
  /** Releases the job: after a failure with growing delay; `cause` null, after a stop, at once, for any process. */
  giveBack(job: Job, cause: unknown): Promise<void>;
}

const backoffMsMax = 300_000;

/** Opens the table of jobs with a lease id of its own. `leaseMs`: time for which a job stays with this process without a renewal. */
export function openJobTable(database: Pick<Database, 'em'>, kinds: readonly string[], leaseMs: number): JobTable {
  const leaseId = newId();
  const leaseSeconds = leaseMs / 1000;

  return {
    async take(without) {
      const others = without.length === 0 ? '' : `and (organisation_id is null or organisation_id not in (${marks(without)}))`;
      // Materialized: PostgreSQL may run a subquery in the condition of an update once per row, and would then take more than one.
      const [job] = await database.em().execute<Job[]>(
        `with due as materialized (
           select id from jobs
           where run_at <= now() and (leased_until is null or leased_until < now()) and kind in (${marks(kinds)}) ${others}
           order by run_at limit 1 for update skip locked)
         update jobs set lease_id = ?, leased_until = now() + make_interval(secs => ?) from due where jobs.id = due.id
         returning jobs.id, jobs.kind, jobs.key, jobs.organisation_id as "organisationId", jobs.payload, jobs.attempts`,
        [...kinds, ...without, leaseId, leaseSeconds],
      );
      return job ?? null;
    },

    async renew({ id }) {
      const rows = await database
        .em()
        .execute<unknown[]>(
          'update jobs set leased_until = now() + make_interval(secs => ?) where id = ? and lease_id = ? returning id',
          [leaseSeconds, id, leaseId],
        );
      return rows.length > 0;
    },

    async remove({ id }) {
      await database.em().execute('delete from jobs where id = ? and lease_id = ?', [id, leaseId]);
    },

    async postpone({ id }, ms) {
      await database.em().execute(
        `update jobs set lease_id = null, leased_until = null, attempts = 0, last_error = null,
           run_at = now() + make_interval(secs => ?) where id = ? and lease_id = ?`,
        [ms / 1000, id, leaseId],
      );
    },

    async giveBack({ id, attempts }, cause) {
      const delayMs = cause === null ? 0 : Math.min(backoffMsMax, 1_000 * 2 ** Math.min(attempts, 10));
      const reason = cause === null ? null : failureFields(cause).reason.slice(0, 500);
      await database.em().execute(
        `update jobs set lease_id = null, leased_until = null, attempts = attempts + ?, last_error = coalesce(?, last_error),
           run_at = now() + make_interval(secs => ?) where id = ? and lease_id = ?`,
        [cause === null ? 0 : 1, reason, delayMs / 1000, id, leaseId],
      );
    },
  };
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
