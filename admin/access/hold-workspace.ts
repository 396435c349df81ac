import type { EntityManager } from '../db/open-database.ts';

/**
 * Keeps an active workspace from being deleted until the transaction ends; false when it is not there (any more). Whatever is put
 * into a workspace holds it, so that nothing is left behind in one that is being deleted.
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
