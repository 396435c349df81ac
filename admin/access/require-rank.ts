import type { EntityManager } from '../db/open-database.ts';
import type { Actor, OrganisationRole, WorkspaceRole } from '../http/caller/actor.ts';
import { forbidden } from '../http/errors.ts';
import { effectiveSecuritySettings } from '../resources/organisations/security-settings.ts';
import { workspaceRoleScopes } from './roles.ts';
import { grantableInWorkspaces } from './scopes.ts';

/** Scopes that every admin has. An actor without one of them cannot create or take over an admin. */
const adminScopes = [
  'organisation_users.create',
  'organisation_users.update',
  'organisation_users.delete',
  'organisation_settings.update',
  'organisation_service_api_keys.create',
  'workspaces.create',
  'workspaces.delete',
];

/**
 * Throws AB03 if the actor may not give this role or manage a user who has it, so that no actor gains rights through another user. Only
 * owners, and the admin key created at the first start, manage owners.
 */
export function requireRank(actor: Actor, role: OrganisationRole): void {
  if (actor.actsAsOwner || role === 'member') return;
  if (role === 'owner') throw forbidden('Only owners can create, change or remove owners');
  const missing = adminScopes.filter((scope) => !actor.scopes.has(scope));
  if (missing.length > 0) throw forbidden(`Only admins can do this: the scopes ${missing.join(', ')} are missing`);
}

/**
 * Throws AB03 if a key would create or change a user who may do more in a workspace than the key can. Replies contain the links
 * to accept an invite or set a password, and such a link gives access as that user. Every key may grant scopes for model calls,
 * as with keys of workspaces.
 */
export async function requireMemberships(
  em: EntityManager,
  actor: Actor,
  memberships: readonly { readonly id: string; readonly role: WorkspaceRole }[],
): Promise<void> {
  // For sessions, `requireRank` and `requireWorkspaceRank` check the role.
  if (actor.session) return;
  const grantable = grantableInWorkspaces(actor.scopes);
  for (const { id, role } of memberships) {
    const settings = await effectiveSecuritySettings(em, actor.organisationId, id);
    const missing = [...workspaceRoleScopes(role, settings)].filter((scope) => !grantable.has(scope));
    if (missing.length > 0) {
      throw forbidden(
        `This API key cannot grant the role ${role} in a workspace or manage members with it. It lacks the scopes ${missing.slice(0, 10).join(', ')}`,
      );
    }
  }
}

/** Throws AB03 if a manager adds, changes or removes an admin of the workspace. Workspace admins and higher roles may do so. */
export function requireWorkspaceRank(actor: Actor, role: WorkspaceRole): void {
  if (role !== 'admin' || actor.session?.role !== 'member') return;
  const own = actor.workspaceId === null ? undefined : actor.session.memberships.get(actor.workspaceId)?.role;
  if (own !== 'admin') throw forbidden('Only workspace admins can add, change or remove workspace admins');
}
