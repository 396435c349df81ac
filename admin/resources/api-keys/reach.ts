import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { lacksScope } from '../../http/caller/require-scope.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { type ApiKey, apiKeys } from './entity.ts';
import { checkScopes } from './grants.ts';

/** The scopes for each type of key: `<group>.read`, `<group>.rotate`, … */
export const scopeGroups: Readonly<Record<ApiKeyType, string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
};

/** Scopes of a route that works on keys of any type. The exact type is checked after the key is loaded. */
export const inAnyGroup = (action: string) => Object.values(scopeGroups).map((group) => `${group}.${action}`);

interface Call {
  readonly actor: Actor;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Returns the filter for keys that the caller may list: of the tenant, of the types its scopes allow, and for a plain member only
 * their own.
 */
export function whereReachable({ actor, organisationId, workspaceId }: Omit<Call, 'params'>) {
  const types = (Object.keys(scopeGroups) as ApiKeyType[]).filter((type) => actor.scopes.has(`${scopeGroups[type]}.list`));
  return {
    organisationId,
    type: { $in: types },
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(isPlainMember(actor, workspaceId) ? { userId: actor.userId } : {}),
  };
}

/**
 * Returns the key that a path names, by row id. Throws AB08 if it belongs to another tenant (or, for a plain member, to another
 * user), AB03 if the caller lacks the scope for its type.
 */
export async function findReachable(em: EntityManager, call: Call, action: string): Promise<ApiKey> {
  const where = itemOf(call, call.params.id ?? '');
  const row = where.id === undefined ? null : await em.findOne(apiKeys, where);
  if (!row || (isPlainMember(call.actor, row.workspaceId ?? null) && row.userId !== call.actor.userId)) throw notFound('API key');
  const needed = `${scopeGroups[row.type]}.${action}`;
  if (!call.actor.scopes.has(needed)) throw lacksScope(call.actor, [needed]);
  // The key of the first start acts as an owner: see `actorOfKey`.
  if (action !== 'read' && row.type === 'organisation-service' && row.creationMode === 'auto' && !call.actor.actsAsOwner) {
    throw forbidden('Only owners can change or delete the key created by the first start');
  }
  return row;
}

/**
 * Throws AB03 if the actor may not have the secret of this key. The secret allows everything the key allows, which must not
 * exceed what the actor could grant. The actor's own keys are exempt: they are limited to the actor's role on each use.
 */
export function requireSecretOf(actor: Actor, row: ApiKey): void {
  if (row.id === actor.keyId || (row.userId && row.userId === actor.userId)) return;
  checkScopes(actor, row.type, row.scopes);
}

/**
 * Returns true for a session of a user who manages nothing in the workspace. Keys of plain members are their own, if settings
 * allow keys.
 */
export function isPlainMember(actor: Actor, workspaceId: string | null): boolean {
  if (actor.session?.role !== 'member') return false;
  const role = workspaceId === null ? undefined : actor.session.memberships.get(workspaceId)?.role;
  return role !== 'admin' && role !== 'manager';
}
