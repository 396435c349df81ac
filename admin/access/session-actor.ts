import type { EntityManager } from '../db/open-database.ts';
import { readRows } from '../db/plain-rows.ts';
import type { Actor, SignedIn } from '../http/caller/actor.ts';
import type { Organisation } from '../resources/organisations/entity.ts';
import { effectiveSecuritySettings, securitySettingsOf } from '../resources/organisations/security-settings.ts';
import type { User } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import { organisationRoleScopes, workspaceRoleScopes } from './roles.ts';

/** The columns of a session that its actor needs. */
interface SessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Returns the actor of a session. Owners and admins have the reach of an organisation key. Until the workspace of the request is
 * known, plain members have the scopes of all their workspaces: see `inWorkspace`.
 */
export async function sessionActor(em: EntityManager, row: SessionRow, user: User, organisation: Organisation): Promise<Actor> {
  const { organisationId, role } = user;
  const memberships = role === 'member' ? await membershipsOf(em, user, organisation) : new Map<string, never>();
  const scopes =
    role === 'member'
      ? new Set([...memberships.values()].flatMap((one: { scopes: ReadonlySet<string> }) => [...one.scopes]))
      : organisationRoleScopes(role, securitySettingsOf({ organisation, workspace: null }));
  return {
    keyId: row.id,
    type: role === 'member' ? 'workspace-user' : 'organisation-service',
    organisationId,
    workspaceId: null,
    userId: user.id,
    scopes,
    session: { userId: user.id, role, createdAt: row.createdAt, expiresAt: row.expiresAt, memberships },
    actsAsOwner: role === 'owner',
  };
}

/** Returns the actor once the workspace is known, limited to their role there. Other actors are unchanged. */
export async function inWorkspace(em: EntityManager, actor: Actor, workspaceId: string | null): Promise<Actor> {
  if (!actor.session || workspaceId === null) return actor;
  const { role, memberships } = actor.session;
  if (role === 'owner') return actor;
  if (role === 'admin') {
    // Settings about admins may differ between this workspace and the organisation.
    const settings = await effectiveSecuritySettings(em, actor.organisationId, workspaceId);
    return { ...actor, scopes: organisationRoleScopes(role, settings) };
  }
  const membership = memberships.get(workspaceId);
  const manages = membership?.role === 'admin' || membership?.role === 'manager';
  const type = manages ? 'workspace-service' : 'workspace-user';
  return { ...actor, type, workspaceId, scopes: membership?.scopes ?? new Set() };
}

/** Returns the active workspaces of a user with the scopes of their role there. */
export async function membershipsOf(em: EntityManager, user: User, organisation: Organisation): Promise<SignedIn['memberships']> {
  const { organisationId } = user;
  const rows = await readRows(em, workspaceMembers, { organisationId, userId: user.id });
  const ids = rows.map((row) => row.workspaceId);
  const active = await readRows(em, workspaces, { organisationId, id: ids, status: 'active' });
  return new Map(
    active.map((workspace) => {
      const role = rows.find((row) => row.workspaceId === workspace.id)?.role ?? 'viewer';
      return [workspace.id, { role, scopes: workspaceRoleScopes(role, securitySettingsOf({ organisation, workspace })) }];
    }),
  );
}
