import { holdUser } from '../../access/hold-user.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { unknownReference } from '../../http/errors.ts';
import { users } from '../users/entity.ts';
import { apiKeys } from './entity.ts';
import type { KeyOwner } from './user-key-rules.ts';

/**
 * Returns the user of a new key that names no user: the caller, else the user who created the caller's key. For the key of the
 * first start, the first owner. Null if there is no such user.
 */
export async function ownerByDefault(em: EntityManager, actor: Actor): Promise<string | null> {
  if (actor.userId !== null) return actor.userId;
  const { organisationId } = actor;
  if (actor.actsAsOwner) {
    const owner = await em.findOne(users, { organisationId, role: 'owner' }, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return owner?.id ?? null;
  }
  const key = await em.findOne(apiKeys, { id: actor.keyId, organisationId });
  return key?.grantedByUserId ?? null;
}

/** Throws AB02 unless the user of a new key belongs to its workspace: as a member, or as owner or admin of the organisation. */
export async function checkOwner(tx: EntityManager, owner: KeyOwner): Promise<void> {
  const { organisationId, workspaceId, userId } = owner;
  // Locks the user until the commit. If the user were removed first, these keys would stay behind.
  const user = (await holdUser(tx, organisationId, userId)) && (await tx.findOne(users, { id: userId, organisationId }));
  if (user && user.role !== 'member') return;
  const memberships = await tx.execute<unknown[]>(
    'select 1 from workspace_members where organisation_id = ? and workspace_id = ? and user_id = ? for key share',
    [organisationId, workspaceId, userId],
  );
  if (!user || memberships.length === 0) throw unknownReference('user_id', 'User of this workspace');
}
