import type { EntityManager } from '../db/open-database.ts';
import type { ApiKey } from '../resources/api-keys/entity.ts';
import { effectiveSecuritySettings } from '../resources/organisations/security-settings.ts';
import { type User, users } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';
import { implicitAdminScopes, workspaceRoleScopes } from './roles.ts';

/** Where a person acts. */
export interface UserPlace {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly userId: string;
}

/** What a person may do in a workspace by their role there, or as owner or admin everywhere. Null: they have no place in it. */
export async function scopesOfUser(em: EntityManager, place: UserPlace): Promise<Set<string> | null> {
  const user = await em.findOne(users, { id: place.userId, organisationId: place.organisationId });
  return user && scopesOfKnownUser(em, user, place.workspaceId);
}

/** The same for a user that is at hand. */
export async function scopesOfKnownUser(
  em: EntityManager,
  user: Pick<User, 'id' | 'organisationId' | 'role'>,
  workspaceId: string,
): Promise<Set<string> | null> {
  const { organisationId } = user;
  const settings = await effectiveSecuritySettings(em, organisationId, workspaceId);
  if (user.role !== 'member') return implicitAdminScopes(user.role, settings);
  const member = await em.findOne(workspaceMembers, { workspaceId, userId: user.id, organisationId });
  return member && workspaceRoleScopes(member.role, settings);
}

/**
 * The scopes a key has at use. Keys of users are held to their user's role as it is now, so that somebody who may do less, or
 * who has left, takes their keys with them.
 */
export async function effectiveKeyScopes(
  em: EntityManager,
  row: Pick<ApiKey, 'type' | 'organisationId' | 'workspaceId' | 'userId' | 'scopes'>,
): Promise<string[]> {
  if (row.type !== 'workspace-user') return row.scopes;
  const { organisationId, workspaceId, userId } = row;
  const allowed = workspaceId && userId ? await scopesOfUser(em, { organisationId, workspaceId, userId }) : null;
  return allowed ? row.scopes.filter((scope) => allowed.has(scope)) : [];
}
