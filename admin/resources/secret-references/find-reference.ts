import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../../db/open-database.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { type SecretReference, secretReferences } from './entity.ts';

/**
 * Returns the organisation's reference with this id or slug, or null. `to use` blocks changes and deletion until the transaction
 * ends; `to change` locks it exclusively.
 */
export async function findReference(
  em: EntityManager,
  organisationId: string,
  idOrSlug: string,
  lock?: 'to use' | 'to change',
): Promise<SecretReference | null> {
  const lockMode = lock === 'to use' ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE;
  return em.findOne(secretReferences, itemOf({ organisationId, workspaceId: null }, idOrSlug), lock ? { lockMode } : {});
}

/** Returns true if this workspace may use the reference. */
export function isOpenTo(row: SecretReference, workspaceId: string): boolean {
  return row.allowAllWorkspaces || row.allowedWorkspaces.includes(workspaceId);
}
