import type { EntityManager } from '../db/open-database.ts';
import { readRow } from '../db/plain-rows.ts';
import type { ApiKey } from '../resources/api-keys/entity.ts';
import { effectiveSecuritySettings } from '../resources/organisations/security-settings.ts';
import type { User } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';
import { readActiveUser } from './active-user.ts';
import { implicitAdminScopes, workspaceRoleScopes } from './roles.ts';

/** User and workspace for which scopes are computed. */
export interface UserInWorkspace {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly userId: string;
}

/**
 * Returns the scopes of a user in a workspace, from their role there or as owner or admin of the organisation. Null if they are
 * not a member, or the directory has deactivated them.
 */
export async function scopesOfUser(em: EntityManager, subject: UserInWorkspace): Promise<Set<string> | null> {
  const user = await readActiveUser(em, subject.organisationId, subject.userId);
  return user ? scopesOfKnownUser(em, user, subject.workspaceId) : null;
}

/** Like `scopesOfUser`, for a user that is already loaded. */
export async function scopesOfKnownUser(
  em: EntityManager,
  user: Pick<User, 'id' | 'organisationId' | 'role'>,
  workspaceId: string,
): Promise<Set<string> | null> {
  const { organisationId } = user;
  const settings = await effectiveSecuritySettings(em, organisationId, workspaceId);
  if (user.role !== 'member') return implicitAdminScopes(user.role, settings);
  const member = await readRow(em, workspaceMembers, { workspaceId, userId: user.id, organisationId });
  return member && workspaceRoleScopes(member.role, settings);
}

/**
 * Returns the scopes in effect when a key is used. A user's keys are limited to the user's current role, so they lose their
 * scopes when the user's role shrinks or the user leaves.
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
