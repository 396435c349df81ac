import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../db/open-database.ts';
import type { OrganisationRole, SignedIn, WorkspaceRole } from '../http/caller/actor.ts';
import { forbidden } from '../http/errors.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { type SecuritySettings, securitySettingsOf } from '../resources/organisations/security-settings.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import { holdRole } from './hold-role.ts';
import { organisationRoleScopes, workspaceRoleScopes } from './roles.ts';
import { grantableInWorkspaces } from './scopes.ts';

/** Roles of a user who grants keys of a workspace; `workspaceId` null: keys of the organisation. */
export interface GrantingRoles {
  readonly workspaceId: string | null;
  readonly role: OrganisationRole;
  /** Null: not a member of the workspace. */
  readonly workspaceRole: WorkspaceRole | null;
}

/** Returns the scopes that a user with these roles may give to keys. */
export function mayGrant({ workspaceId, role, workspaceRole }: GrantingRoles, settings: SecuritySettings): ReadonlySet<string> {
  if (workspaceId === null) return organisationRoleScopes(role, settings);
  if (role !== 'member') return grantableInWorkspaces(organisationRoleScopes(role, settings));
  return workspaceRole === null ? new Set() : workspaceRoleScopes(workspaceRole, settings);
}

/**
 * Returns the scopes that a user may give to keys of a workspace, and locks the role and the security settings that they follow from until the
 * transaction ends. A change of settings that comes later finds the key that is granted; an earlier one has its effect here. Throws AB03 if the role
 * has changed since the request began.
 */
export async function holdGrantable(
  tx: EntityManager,
  organisationId: string,
  session: SignedIn,
  workspaceId: string | null,
): Promise<ReadonlySet<string>> {
  await holdRole(tx, organisationId, session);
  // Refreshed, because the request may have read the rows before the change.
  const fresh = { lockMode: LockMode.PESSIMISTIC_READ, refresh: true } as const;
  const organisation = await tx.findOneOrFail(organisations, { id: organisationId }, fresh);
  const workspace = workspaceId === null ? null : await tx.findOne(workspaces, { id: workspaceId, organisationId }, fresh);
  if (workspaceId !== null && workspace === null) throw forbidden('The workspace has just been deleted');
  const workspaceRole = workspaceId === null ? null : (session.memberships.get(workspaceId)?.role ?? null);
  return mayGrant({ workspaceId, role: session.role, workspaceRole }, securitySettingsOf({ organisation, workspace }));
}
