import type { EntityManager } from '../db/open-database.ts';

/** Keeps a user from being removed until the transaction ends; false when they are not there (any more). */
export async function holdUser(tx: EntityManager, organisationId: string, id: string): Promise<boolean> {
  const held = await tx.execute<unknown[]>('select 1 from users where id = ? and organisation_id = ? for key share', [
    id,
    organisationId,
  ]);
  return held.length > 0;
}

/** Locks the user exclusively: waits for transactions that hold the user, and blocks new ones. */
export async function closeUser(tx: EntityManager, organisationId: string, id: string): Promise<void> {
  await tx.execute('select 1 from users where id = ? and organisation_id = ? for update', [id, organisationId]);
}
