import { hash } from 'node:crypto';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import { removedUsers, type User } from '../../resources/users/entity.ts';

/**
 * Notes that the organisation has no user with this e-mail any more. JWTs that were issued to the user before are rejected; without a user
 * they would have every scope that they claim. Call it in the transaction that removes the user or changes the e-mail.
 */
export async function noteRemovedUser(
  tx: EntityManager,
  { organisationId, email }: Pick<User, 'organisationId' | 'email'>,
): Promise<void> {
  await tx.execute(
    `insert into removed_users (organisation_id, email_hash, removed_at) values (?, ?, now())
     on conflict (organisation_id, email_hash) do update set removed_at = now()`,
    [organisationId, hashOf(organisationId, email)],
    'run',
  );
}

/** Returns the time of the last removal of a user with this e-mail; null if none was removed. */
export async function removalOf(em: EntityManager, organisationId: string, email: string): Promise<Date | null> {
  const row = await readRow(em, removedUsers, { organisationId, emailHash: hashOf(organisationId, email) });
  return row?.removedAt ?? null;
}

function hashOf(organisationId: string, email: string): string {
  return hash('sha256', `${organisationId}/${email}`, 'hex');
}
