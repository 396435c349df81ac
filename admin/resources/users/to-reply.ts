import type * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { userReply } from '../../identity/schema.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import type { User } from './entity.ts';

export type UserReply = v.InferOutput<typeof userReply>;

/** Reply form of users of one organisation, each with their workspaces: all of them for owners and admins. */
export async function toUserReplies(em: EntityManager, organisationId: string, rows: readonly User[]): Promise<UserReply[]> {
  const active = await em.find(
    workspaces,
    { organisationId, status: 'active' },
    { fields: ['id'], orderBy: { createdAt: 'asc' } },
  );
  const all = active.map((row) => row.id);
  const plain = rows.filter((row) => row.role === 'member').map((row) => row.id);
  const memberships = plain.length === 0 ? [] : await em.find(workspaceMembers, { organisationId, userId: { $in: plain } });
  return rows.map((row) => {
    const own = new Set(
      memberships.filter((membership) => membership.userId === row.id).map((membership) => membership.workspaceId),
    );
    return toUserReply(row, row.role === 'member' ? all.filter((id) => own.has(id)) : all);
  });
}

/** Like `toUserReplies`, for one user. */
export async function toUserDetail(em: EntityManager, row: User): Promise<UserReply> {
  const [reply] = await toUserReplies(em, row.organisationId, [row]);
  return reply as UserReply;
}

function toUserReply(row: User, workspaceIds: string[]): UserReply {
  return {
    object: 'user',
    id: row.id,
    first_name: row.firstName ?? null,
    last_name: row.lastName ?? null,
    role: row.role,
    email: row.email,
    email_verified_at: row.emailVerifiedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    workspace_ids: workspaceIds,
  };
}
