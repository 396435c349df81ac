import { actorOfKey } from '../../access/actor-of-key.ts';
import { organisationRoleScopes } from '../../access/roles.ts';
import { effectiveKeyScopes } from '../../access/user-scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { keyState } from '../api-keys/key-state.ts';
import { effectiveSecuritySettings } from '../organisations/security-settings.ts';
import { users } from '../users/entity.ts';

/**
 * Returns the grantor with their current rights in the organisation: a user by user id, a key by row id. Null for a removed user
 * and for a deleted or expired key; their grants have ended.
 */
export async function currentGrantor(em: EntityManager, organisationId: string, id: string, now: number): Promise<Actor | null> {
  const user = await em.findOne(users, { id, organisationId });
  if (user) {
    const { role } = user;
    const at = new Date(now);
    return {
      keyId: id,
      type: role === 'member' ? 'workspace-user' : 'organisation-service',
      organisationId,
      workspaceId: null,
      userId: id,
      scopes: organisationRoleScopes(role, await effectiveSecuritySettings(em, organisationId, null)),
      session: { userId: id, role, createdAt: at, expiresAt: at, memberships: new Map() },
      actsAsOwner: role === 'owner',
    };
  }
  const key = await em.findOne(apiKeys, { id, organisationId });
  if (!key || keyState(key, now) === 'expired') return null;
  return actorOfKey(key, await effectiveKeyScopes(em, key));
}
