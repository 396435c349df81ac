import type { EntityManager } from '../db/open-database.ts';

/** Prevents the removal of a user until the transaction ends. False if the user does not exist or is deactivated. */
export async function holdUser(tx: EntityManager, organisationId: string, id: string): Promise<boolean> {
  const held = await tx.execute<unknown[]>(
    'select 1 from users where id = ? and organisation_id = ? and deactivated_at is null for key share',
    [id, organisationId],
  );
  return held.length > 0;
}

/** Locks the user exclusively: waits for transactions that hold the user, and blocks new ones. */
export async function closeUser(tx: EntityManager, organisationId: string, id: string): Promise<void> {
  await tx.execute('select 1 from users where id = ? and organisation_id = ? for update', [id, organisationId]);
}
