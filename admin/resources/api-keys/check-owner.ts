import type { EntityManager } from '../../db/open-database.ts';
import { unknownReference } from '../../http/errors.ts';
import { users } from '../users/entity.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import type { KeyOwner } from './user-key-rules.ts';

/** Throws AB02 unless the user of a new key belongs to its workspace: as a member, or as owner or admin of the organisation. */
export async function checkOwner(em: EntityManager, owner: KeyOwner): Promise<void> {
  const { organisationId, userId } = owner;
  const user = await em.findOne(users, { id: userId, organisationId });
  if (user && user.role !== 'member') return;
  if (!user || (await em.count(workspaceMembers, owner)) === 0) throw unknownReference('user_id', 'User of this workspace');
}
