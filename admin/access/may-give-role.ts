import type { EntityManager } from '../db/open-database.ts';
import type { Actor, OrganisationRole, WorkspaceRole } from '../http/actor.ts';
import { forbidden } from '../http/errors.ts';
import { effectiveSecuritySettings } from '../resources/organisations/security-settings.ts';
import { workspaceRoleScopes } from './roles.ts';
import { dataPlaneScopes } from './scopes.ts';

/** Whoever lacks one of these is less than an admin, and cannot make one, or take one over. */
const marksOfAdmins = [
  'organisation_users.create',
  'organisation_users.update',
  'organisation_users.delete',
  'organisation_settings.update',
  'organisation_service_api_keys.create',
  'workspaces.create',
  'workspaces.delete',
];

/**
 * Throws AB03 when the caller may not give this role, or work on somebody who has it: nobody reaches above themselves through
 * another person. Owners are for owners, and for the key the first start made.
 */
export function requireRank(actor: Actor, role: OrganisationRole): void {
  if (actor.actsAsOwner || role === 'member') return;
  if (role === 'owner') throw forbidden('Only owners can create, change or remove owners');
  const missing = marksOfAdmins.filter((scope) => !actor.scopes.has(scope));
  if (missing.length > 0) throw forbidden(`Only admins can do this: the scopes ${missing.join(', ')} are missing`);
}

/**
 * Throws AB03 when a key would get hold of a person, or shape one, who may do more in a workspace than the key can: links to accept
 * an invite or to set a password are in the replies, and whoever follows one is that person. Calling models is for every key to hand
 * out, as with keys of workspaces.
 */
export async function requirePlaces(
  em: EntityManager,
  actor: Actor,
  places: readonly { readonly id: string; readonly role: WorkspaceRole }[],
): Promise<void> {
  // What people may give is a matter of their own role: see `requireRank` and `requireWorkspaceRank`.
  if (actor.session) return;
  for (const { id, role } of places) {
    const settings = await effectiveSecuritySettings(em, actor.organisationId, id);
    const missing = [...workspaceRoleScopes(role, settings)].filter(
      (scope) => !actor.scopes.has(scope) && !dataPlaneScopes.includes(scope),
    );
    if (missing.length > 0) {
      throw forbidden(
        `This API key cannot grant the role ${role} in a workspace or manage members with it. It lacks the scopes ${missing.slice(0, 10).join(', ')}`,
      );
    }
  }
}

/** Throws AB03 for a manager who would make, change or remove an admin of the workspace. Admins of it and those above may. */
export function requireWorkspaceRank(actor: Actor, role: WorkspaceRole): void {
  if (role !== 'admin' || actor.session?.role !== 'member') return;
  const own = actor.workspaceId === null ? undefined : actor.session.memberships.get(actor.workspaceId)?.role;
  if (own !== 'admin') throw forbidden('Only workspace admins can add, change or remove workspace admins');
}
