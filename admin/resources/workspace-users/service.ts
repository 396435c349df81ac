import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireMemberships, requireWorkspaceRank } from '../../access/require-rank.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor, WorkspaceRole } from '../../http/caller/actor.ts';
import { AdminError, conflict, invalid, notFound } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { type User, users } from '../users/entity.ts';
import { type WorkspaceMember, workspaceMembers } from './entity.ts';
import { addMember, changeRole, type Making, removeMember } from './memberships.ts';
import type { NewMembers } from './schema.ts';

interface Workspace {
  readonly id: string;
  readonly organisationId: string;
}

/** A membership with its user. */
export interface Membership {
  readonly member: WorkspaceMember;
  readonly user: User;
}

/**
 * Adds members of the organisation to a workspace. Throws AB02 for a user outside the organisation, AB07 for a user who is
 * already in the workspace, AB03 for a role above the actor's.
 */
export async function addWorkspaceUsers(
  change: Change,
  actor: Actor,
  workspace: Workspace,
  sent: NewMembers,
  making: Making,
): Promise<void> {
  const { organisationId, id: workspaceId } = workspace;
  const ids = sent.map((one) => one.id.toLowerCase());
  if (new Set(ids).size < ids.length) throw invalid('users: duplicate user');
  const known = await change.tx.find(users, { organisationId, id: { $in: ids } });
  const unknown = sent.flatMap((one, index) =>
    known.some((user) => user.id === one.id.toLowerCase()) ? [] : [`users[${index}].id: User of the organisation not found`],
  );
  if (unknown.length > 0) throw new AdminError('AB02', unknown[0] ?? '', unknown);
  const there = await change.tx.find(workspaceMembers, { organisationId, workspaceId, userId: { $in: ids } });
  const roles = [...new Set(sent.map(({ role }) => role))];
  await requireMemberships(
    change.tx,
    actor,
    roles.map((role) => ({ id: workspaceId, role })),
  );
  for (const { id, role } of sent) {
    requireWorkspaceRank(actor, role);
    const user = known.find((one) => one.id === id.toLowerCase()) as User;
    if (there.some((one) => one.userId === user.id)) throw conflict('A user is already a member of this workspace');
    await addMember(change, user, workspaceId, role, making);
  }
}

/** Changes the role of a member. Throws AB07 if the workspace would lose its last admin: see `keepAnAdmin`. */
export async function updateWorkspaceUser(
  change: Change,
  actor: Actor,
  { member, user }: Membership,
  role: WorkspaceRole,
  now: number,
): Promise<void> {
  requireWorkspaceRank(actor, member.role);
  requireWorkspaceRank(actor, role);
  await requireMemberships(change.tx, actor, [{ id: member.workspaceId, role }]);
  if (member.role === 'admin' && role !== 'admin') await keepAnAdmin(change.tx, actor, member);
  if (member.role !== role) await changeRole(change, user, member, role, now);
  change.about({ id: user.id, workspaceId: member.workspaceId });
}

/** Removes a member from a workspace; their keys there end with the change. */
export async function removeWorkspaceUser(change: Change, actor: Actor, { member, user }: Membership): Promise<void> {
  requireWorkspaceRank(actor, member.role);
  if (member.role === 'admin') await keepAnAdmin(change.tx, actor, member);
  await removeMember(change, user, member);
  change.about({ id: user.id, workspaceId: member.workspaceId });
}

/** A member by user id. Throws AB08. */
export async function findMembership(em: EntityManager, workspace: Workspace, userId: string): Promise<Membership> {
  const { organisationId, id: workspaceId } = workspace;
  const member = isUuid(userId) ? await em.findOne(workspaceMembers, { organisationId, workspaceId, userId }) : null;
  const user = member && (await em.findOne(users, { id: member.userId, organisationId }));
  if (!user) throw notFound('User');
  return { member, user };
}

/**
 * Members of a workspace cannot remove its last admin. Owners, admins and keys of the organisation can, because they are admins
 * of it themselves.
 */
async function keepAnAdmin(tx: EntityManager, actor: Actor, member: WorkspaceMember): Promise<void> {
  if (actor.session?.role !== 'member') return;
  const admins = await tx.execute<{ id: string }[]>(
    "select id from workspace_members where organisation_id = ? and workspace_id = ? and role = 'admin' order by id for update",
    [member.organisationId, member.workspaceId],
  );
  if (!admins.some((admin) => admin.id !== member.id)) throw conflict('This is the last admin of the workspace');
}
