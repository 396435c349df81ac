import type { EntityManager } from '../db/open-database.ts';

/**
 * Prevents the deletion of an active workspace until the transaction ends. False if it does not exist. Each insert into a
 * workspace takes this lock, so that no rows stay behind in a deleted one.
 */
export async function holdWorkspace(tx: EntityManager, organisationId: string, id: string): Promise<boolean> {
  const held = await tx.execute<unknown[]>(
    "select 1 from workspaces where id = ? and organisation_id = ? and status = 'active' for key share",
    [id, organisationId],
  );
  return held.length > 0;
}

/** Locks the workspace exclusively: waits for transactions that hold the workspace, and blocks new ones. */
export async function closeWorkspace(tx: EntityManager, organisationId: string, id: string): Promise<void> {
  await tx.execute('select 1 from workspaces where id = ? and organisation_id = ? for update', [id, organisationId]);
}
