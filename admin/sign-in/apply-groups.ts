import { roleChanged } from '../access/role-changed.ts';
import { type WorkspaceRole, workspaceRoles } from '../http/caller/actor.ts';
import type { Change } from '../publish/write-change.ts';
import { findDifferences } from '../resources/scim-users/find-differences.ts';
import { followGroups } from '../resources/scim-users/follow-groups.ts';
import type { ExternalIdentity, GroupRule, SsoConnection } from '../resources/sso-connections/entity.ts';
import type { User } from '../resources/users/entity.ts';
import { type WorkspaceMember, workspaceMembers } from '../resources/workspace-users/entity.ts';
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
 * Sets role and memberships as the group rules say. Owners keep their role. Memberships that no rule gave stay, also those of a directory's
 * groups; of several rules for a workspace, the highest role counts.
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
  const before = await change.tx.find(workspaceMembers, { organisationId, userId: user.id });
  // They follow the groups of the directory. With a role of the rules they would change at each sign-in and at each change of a group.
  const ofDirectory = new Set(before.filter((member) => member.byGroup).map((member) => member.workspaceId));
  const memberships = active
    .filter(({ id }) => !ofDirectory.has(id))
    .map(({ id }) => ({ id, role: wanted.get(id) as WorkspaceRole }));
  const lost = before.filter(
    ({ byGroup, workspaceId: id }) => !byGroup && identity.grantedWorkspaces.includes(id) && !wanted.has(id),
  );
  await leaveToDirectory(change, user, lost, making);
  await setMemberships(change, user, memberships, making);
  // A membership that existed before any rule named the workspace is not the rules' to remove.
  const own = new Set(before.map(({ workspaceId }) => workspaceId));
  identity.grantedWorkspaces = memberships
    .map(({ id }) => id)
    .filter((id) => identity.grantedWorkspaces.includes(id) || !own.has(id))
    .sort();
}

/** Ends memberships that the rules gave, except those that a group of the directory gives: they follow the group from now on. */
async function leaveToDirectory(change: Change, user: User, lost: readonly WorkspaceMember[], making: Making): Promise<void> {
  if (lost.length === 0) return;
  const { organisationId, id: userId } = user;
  const affected = { userIds: [userId], workspaceIds: lost.map((member) => member.workspaceId) };
  for (const member of lost) member.byGroup = true;
  await change.tx.flush();
  const differences = await findDifferences(change.tx, organisationId, affected);
  const unwanted = new Set(differences.filter((one) => one.wanted === null).map((one) => one.workspace_id));
  for (const member of lost) if (unwanted.has(member.workspaceId)) await removeMember(change, user, member);
  await followGroups(change, organisationId, affected, making);
}

function rank(role: WorkspaceRole): number {
  return workspaceRoles.indexOf(role);
}
