import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';

export interface NewJob {
  readonly kind: string;
  readonly key: string;
  readonly organisationId: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Default: now. */
  readonly runAt?: Date;
}

/**
 * Adds a job in the current transaction. An existing job of this kind and key is only moved forward. Wake the runner after the
 * commit; otherwise it finds the job at its next poll.
 */
export async function addJob(
  tx: EntityManager,
  { kind, key, organisationId, payload = {}, runAt = new Date() }: NewJob,
): Promise<void> {
  await tx.execute(
    `insert into jobs (id, kind, key, organisation_id, payload, run_at, created_at) values (?, ?, ?, ?, ?::jsonb, ?, now())
     on conflict (kind, key) do update set run_at = least(jobs.run_at, excluded.run_at)`,
    [newId(), kind, key, organisationId, JSON.stringify(payload), runAt],
  );
}
