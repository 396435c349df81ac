import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { holdUser } from '../../access/hold-user.ts';
import { holdWorkspace } from '../../access/hold-workspace.ts';
import { roleChanged } from '../../access/role-changed.ts';
import { announceUsers } from '../../announce/users.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceRole } from '../../http/caller/actor.ts';
import { invalid, notFound, unknownReference } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { deleteKeysOfUser, provisionUserKey } from '../api-keys/user-keys.ts';
import type { User } from '../users/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type WorkspaceMember, workspaceMembers } from './entity.ts';

/** The parts of the process that creating a user or membership needs. */
export interface Making {
  readonly apiKeyPepper: Uint8Array;
  readonly now: number;
}

/** A workspace by row id, and the role of the user in it. */
export interface FoundMembership {
  readonly id: string;
  readonly role: WorkspaceRole;
}

/** Returns the workspaces that a body names by id or slug. Throws AB02 for an unknown workspace and AB01 for one named twice. */
export async function findMemberships(
  em: EntityManager,
  organisationId: string,
  named: readonly { readonly id: string; readonly role: WorkspaceRole }[],
): Promise<FoundMembership[]> {
  const ids = named.flatMap(({ id }) => (isUuid(id) ? id.toLowerCase() : []));
  const slugs = named.flatMap(({ id }) => (isUuid(id) ? [] : id));
  const rows = await em.find(workspaces, {
    organisationId,
    status: 'active',
    $or: [{ id: { $in: ids } }, { slug: { $in: slugs } }],
  });
  const found = named.map(({ id, role }, index) => {
    const row = rows.find((one) => (isUuid(id) ? one.id === id.toLowerCase() : one.slug === id));
    if (!row) throw unknownReference(`workspaces[${index}].id`, 'Workspace');
    return { id: row.id, role };
  });
  const twice = found.findIndex((one, index) => found.findIndex((other) => other.id === one.id) !== index);
  if (twice !== -1) throw invalid(`workspaces[${twice}].id: duplicate`);
  return found;
}

/** Adds a user to these workspaces, or changes their role there. Other memberships stay. */
export async function setMemberships(
  change: Change,
  user: User,
  memberships: readonly FoundMembership[],
  making: Making,
): Promise<void> {
  const { organisationId, id: userId } = user;
  for (const { id: workspaceId, role } of memberships) {
    const row = await change.tx.findOne(workspaceMembers, { organisationId, workspaceId, userId });
    if (!row) await addMember(change, user, workspaceId, role, making);
    else if (row.role !== role) await changeRole(change, user, row, role, making.now);
  }
}

/** Adds a member, with a key if the workspace's settings require one. */
export async function addMember(
  change: Change,
  user: User,
  workspaceId: string,
  role: WorkspaceRole,
  { apiKeyPepper, now }: Making,
): Promise<WorkspaceMember> {
  const membership = { organisationId: user.organisationId, workspaceId, userId: user.id };
  const row = await insertMember(change, membership, role, now);
  await announceUsers(change, membership);
  await provisionUserKey(change, apiKeyPepper, membership);
  return row;
}

/** Inserts the row of a new member, without further effects. Throws AB08 if the workspace or user was deleted concurrently. */
export async function insertMember(
  change: Change,
  membership: { readonly organisationId: string; readonly workspaceId: string; readonly userId: string },
  role: WorkspaceRole,
  now: number,
): Promise<WorkspaceMember> {
  const { organisationId, workspaceId, userId } = membership;
  if (!(await holdWorkspace(change.tx, organisationId, workspaceId))) throw notFound('Workspace');
  if (!(await holdUser(change.tx, organisationId, userId))) throw notFound('User');
  const times = { createdAt: new Date(now), lastUpdatedAt: new Date(now) };
  const row = change.tx.create(workspaceMembers, { ...membership, id: newId(), role, ...times });
  await change.tx.flush();
  return row;
}

/** Changes the role, with its effects on keys. */
export async function changeRole(
  change: Change,
  user: User,
  row: WorkspaceMember,
  role: WorkspaceRole,
  now: number,
): Promise<void> {
  row.role = role;
  row.lastUpdatedAt = new Date(now);
  await change.tx.flush();
  await roleChanged(change, user, row.workspaceId);
}

/** Removes a member from a workspace; their keys there end with the change. */
export async function removeMember(change: Change, user: User, member: WorkspaceMember): Promise<void> {
  const { organisationId, workspaceId, userId } = member;
  change.tx.remove(member);
  // Flush first. A concurrent request that creates a key for this member has then finished, or will find that the member is gone.
  await change.tx.flush();
  // Owners and admins can still use the workspace, and keep their keys.
  if (user.role === 'member') await deleteKeysOfUser(change, { organisationId, workspaceId, userId });
  await change.tx.flush();
  await roleChanged(change, user, workspaceId);
}
