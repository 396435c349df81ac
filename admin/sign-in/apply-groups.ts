import { roleChanged } from '../access/role-changed.ts';
import { type WorkspaceRole, workspaceRoles } from '../http/caller/actor.ts';
import type { Change } from '../publish/write-change.ts';
import type { ExternalIdentity, GroupRule, SsoConnection } from '../resources/sso-connections/entity.ts';
import type { User } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';
import { type Making, removeMember, setMemberships } from '../resources/workspace-users/memberships.ts';
import { workspaces } from '../resources/workspaces/entity.ts';

/** Returns the rules that apply to a user with these groups. */
export function matchingRules({ groupRules }: Pick<SsoConnection, 'groupRules'>, groups: readonly string[]): GroupRule[] {
  return groupRules.filter(({ group }) => groups.includes(group));
}

/** Returns the role in the organisation that the rules give; null if no rule of the connection sets roles. */
export function roleByGroups(
  connection: Pick<SsoConnection, 'groupRules'>,
  matching: readonly GroupRule[],
): 'admin' | 'member' | null {
  if (connection.groupRules.every(({ role }) => role === null)) return null;
  return matching.some(({ role }) => role === 'admin') ? 'admin' : 'member';
}

/**
 * Sets role and memberships as the group rules say. Owners keep their role. Memberships that no rule gave stay; of several rules for a
 * workspace, the highest role counts.
 */
export async function applyGroups(
  change: Change,
  connection: SsoConnection,
  user: User,
  identity: ExternalIdentity,
  groups: readonly string[],
  making: Making,
): Promise<void> {
  const matching = matchingRules(connection, groups);
  const role = roleByGroups(connection, matching);
  if (role !== null && user.role !== 'owner' && user.role !== role) {
    user.role = role;
    user.lastUpdatedAt = new Date(making.now);
    await change.tx.flush();
    await roleChanged(change, user, null);
  }
  const wanted = new Map<string, WorkspaceRole>();
  for (const { id, role: given } of matching.flatMap((rule) => rule.workspaces)) {
    const before = wanted.get(id);
    if (before === undefined || rank(given) < rank(before)) wanted.set(id, given);
  }
  const { organisationId } = user;
  const active = await change.tx.find(workspaces, { organisationId, id: { $in: [...wanted.keys()] }, status: 'active' });
  const memberships = active.map(({ id }) => ({ id, role: wanted.get(id) as WorkspaceRole }));
  const before = await change.tx.find(workspaceMembers, { organisationId, userId: user.id });
  const lost = identity.grantedWorkspaces.filter((id) => !wanted.has(id));
  for (const member of before) if (lost.includes(member.workspaceId)) await removeMember(change, user, member);
  await setMemberships(change, user, memberships, making);
  // A membership that existed before any rule named the workspace is not the rules' to remove.
  const own = new Set(before.map(({ workspaceId }) => workspaceId));
  identity.grantedWorkspaces = memberships
    .map(({ id }) => id)
    .filter((id) => identity.grantedWorkspaces.includes(id) || !own.has(id))
    .sort();
}

function rank(role: WorkspaceRole): number {
  return workspaceRoles.indexOf(role);
}
