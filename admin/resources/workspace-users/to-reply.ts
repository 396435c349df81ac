import { implicitAdminScopes, workspaceRoleScopes } from '../../access/roles.ts';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { effectiveSecuritySettings } from '../organisations/security-settings.ts';
import { users } from '../users/entity.ts';
import { workspaceMembers } from './entity.ts';
import type { ListQuery, WorkspaceUserReply } from './schema.ts';
import type { Membership } from './service.ts';

interface Workspace {
  readonly id: string;
  readonly organisationId: string;
}

/** Returns members of one workspace in their read form. */
export async function toWorkspaceUsers(
  em: EntityManager,
  { id, organisationId }: Workspace,
  memberships: readonly Membership[],
): Promise<WorkspaceUserReply[]> {
  if (memberships.length === 0) return [];
  const settings = await effectiveSecuritySettings(em, organisationId, id);
  return memberships.map(({ member, user }) => ({
    object: 'workspace-user',
    id: user.id,
    first_name: user.firstName ?? null,
    last_name: user.lastName ?? null,
    org_role: user.role,
    role: member.role,
    created_at: member.createdAt.toISOString(),
    last_updated_at: member.lastUpdatedAt.toISOString(),
    status: 'active',
    workspace_id: id,
    email: user.email,
    scopes: [...(user.role === 'member' ? workspaceRoleScopes(member.role, settings) : implicitAdminScopes(user.role, settings))],
    settings: {},
  }));
}

/** A page of a workspace's members, oldest first. */
export async function listWorkspaceUsers(
  em: EntityManager,
  workspace: Workspace,
  query: Pick<ListQuery, 'role' | 'email'>,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ total: number; object: 'list'; data: WorkspaceUserReply[] }> {
  const { organisationId, id: workspaceId } = workspace;
  const named = query.email === undefined ? null : await em.find(users, { organisationId, email: query.email });
  const where = {
    organisationId,
    workspaceId,
    ...(query.role === undefined ? {} : { role: query.role }),
    ...(named === null ? {} : { userId: { $in: named.map((user) => user.id) } }),
  };
  const [rows, total] = await findPage(em, workspaceMembers, where, { ...page, orderBy: { createdAt: 'asc', id: 'asc' } });
  const people = await em.find(users, { organisationId, id: { $in: rows.map((row) => row.userId) } });
  const memberships = rows.flatMap((member) => {
    const user = people.find((one) => one.id === member.userId);
    return user ? [{ member, user }] : [];
  });
  return { total, object: 'list', data: await toWorkspaceUsers(em, workspace, memberships) };
}
