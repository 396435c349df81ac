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
 * Adds a job in the transaction at hand; one of this kind and key that is there already is only brought forward. Wake the runner
 * after the commit, or it finds it at its next look.
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
