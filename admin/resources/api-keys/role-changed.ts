import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import { organisationRoleScopes } from '../../access/roles.ts';
import { grantableInWorkspaces } from '../../access/scopes.ts';
import { scopesOfKnownUser } from '../../access/user-scopes.ts';
import { announceUserKeys } from '../../announce/user-keys.ts';
import type { Change } from '../../publish/write-change.ts';
import { effectiveSecuritySettings } from '../organisations/security-settings.ts';
import type { User } from '../users/entity.ts';
import { apiKeys } from './entity.ts';
import { followPerson } from './grants.ts';

/**
 * Applies a change of a user's role, in the organisation or in one workspace, to their own keys and to the keys they granted.
 * Call it after the change is flushed.
 */
export async function roleChanged(
  change: Change,
  user: Pick<User, 'id' | 'organisationId' | 'role'>,
  workspaceId: string | null,
): Promise<void> {
  const { organisationId } = user;
  await announceUserKeys(change, { organisationId, workspaceId, userId: user.id });
  const person = { organisationId, userId: user.id };
  if (user.role !== 'member') {
    const own = organisationRoleScopes(user.role, await effectiveSecuritySettings(change.tx, organisationId, null));
    await followPerson(change, { ...person, workspaceId }, mayGrant(own, grantableInWorkspaces(own)));
    return;
  }
  // Scopes that only an owner or admin could grant are removed. Scopes that a workspace still allows the user to grant stay.
  if (workspaceId === null) await followPerson(change, { ...person, workspaceId }, mayGrant([], []));
  for (const one of workspaceId === null ? await grantedIn(change, person) : [workspaceId]) {
    const scopes = (await scopesOfKnownUser(change.tx, user, one)) ?? [];
    await followPerson(change, { ...person, workspaceId: one }, mayGrant([], scopes));
  }
}

function mayGrant(organisation: Iterable<string>, workspace: Iterable<string>): Readonly<Record<ApiKeyType, Iterable<string>>> {
  return { 'organisation-service': organisation, 'workspace-service': workspace, 'workspace-user': workspace };
}

/** Workspaces in which this user has granted keys. */
async function grantedIn(change: Change, person: { organisationId: string; userId: string }): Promise<string[]> {
  const rows = await change.tx.find(
    apiKeys,
    { organisationId: person.organisationId, grantedByUserId: person.userId, workspaceId: { $ne: null } },
    { fields: ['workspaceId'] },
  );
  return [...new Set(rows.flatMap((row) => row.workspaceId ?? []))];
}
