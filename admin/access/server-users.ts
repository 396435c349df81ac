import * as v from 'valibot';
import { oneOf } from '../../core/contract/values/text/one-of.ts';
import type { ServerUsersTable } from '../db/access-tables.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { invalid } from '../http/errors.ts';
import { nullableText, uuid } from '../http/reply/reply-schemas.ts';
import { id, search, tenantEntries, wholeNumber } from '../http/request/schemas.ts';
import type { Change } from '../publish/write-change.ts';
import { type User, users } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';

/** A server of a workspace with access rules for users. */
interface GuardedServer {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  defaultUserAccess: 'allow' | 'deny';
  lastUpdatedAt: Date;
}

const access = oneOf(['allow', 'deny']);

/** Pages count from 1. */
export const userAccessQuery = v.strictObject({
  ...tenantEntries,
  page: v.optional(wholeNumber(1, 1_000_000), '1'),
  page_size: v.optional(wholeNumber(1, 500), '100'),
  search,
});
export type UserAccessQuery = v.InferOutput<typeof userAccessQuery>;

export const userAccessBody = v.strictObject({
  ...tenantEntries,
  user_access: v.optional(
    v.pipe(v.array(v.strictObject({ user_id: id, enabled: v.boolean() })), v.maxLength(1_000, 'at most 1,000 users at once')),
  ),
  default_user_access: v.optional(access),
});
export type SentUserAccess = v.InferOutput<typeof userAccessBody>;

export const userAccessEntries = {
  user_id: uuid,
  first_name: nullableText,
  last_name: nullableText,
  enabled: v.boolean(),
  has_override: v.boolean(),
};

/** The reply with a page of users. */
export function userAccessPage<Row extends v.GenericSchema>(row: Row) {
  return v.strictObject({
    object: v.literal('list'),
    data: v.array(row),
    default_user_access: access,
    total: v.number(),
    has_more: v.boolean(),
  });
}

/** Returns one page of the users of the server's workspace, with their access. */
export async function listServerUsers(em: EntityManager, table: ServerUsersTable, row: GuardedServer, query: UserAccessQuery) {
  const { page, page_size: size, search = '' } = query;
  const all = await usersOf(em, row);
  const text = search.toLowerCase();
  const found = all.filter((one) =>
    [one.firstName, one.lastName, one.email].some((part) => part?.toLowerCase().includes(text) ?? false),
  );
  const overrides = await em.find(table, { organisationId: row.organisationId, serverId: row.id });
  const enabledOf = new Map(overrides.map((one) => [one.userId, one.enabled]));
  const data = found.slice((page - 1) * size, page * size).map((one) => ({
    user_id: one.id,
    first_name: one.firstName ?? null,
    last_name: one.lastName ?? null,
    enabled: enabledOf.get(one.id) ?? row.defaultUserAccess === 'allow',
    has_override: enabledOf.has(one.id),
  }));
  return {
    ...{ object: 'list', data, default_user_access: row.defaultUserAccess },
    ...{ total: found.length, has_more: page * size < found.length },
  };
}

/** Sets the access of the named users, and the default for all other users. Throws AB01 for a user who cannot use the workspace. */
export async function setServerUsers(
  change: Change,
  table: ServerUsersTable,
  row: GuardedServer,
  sent: SentUserAccess,
): Promise<void> {
  const { tx } = change;
  const { organisationId, workspaceId, id: serverId } = row;
  const eligible = new Set((await usersOf(tx, row)).map((one) => one.id));
  const known = await tx.find(table, { organisationId, serverId });
  const now = new Date();
  for (const [index, { user_id: sentId, enabled }] of (sent.user_access ?? []).entries()) {
    const userId = sentId.toLowerCase();
    if (!eligible.has(userId)) throw invalid(`user_access[${index}].user_id: no user of this workspace has this id`);
    const found = known.find((one) => one.userId === userId);
    if (found) {
      found.enabled = enabled;
      found.lastUpdatedAt = now;
    } else {
      const fields = { id: newId(), organisationId, workspaceId, serverId, userId, enabled, lastUpdatedAt: now };
      known.push(tx.create(table, fields));
    }
  }
  if (sent.default_user_access !== undefined) row.defaultUserAccess = sent.default_user_access;
  row.lastUpdatedAt = now;
  change.about(row);
}

/** Returns the users with another access than the default. */
export async function userExceptions(em: EntityManager, table: ServerUsersTable, row: GuardedServer): Promise<string[]> {
  const { organisationId, id: serverId } = row;
  const rows = await em.find(table, { organisationId, serverId, enabled: row.defaultUserAccess === 'deny' });
  return rows.map(({ userId }) => userId);
}

/** Members of the workspace, and owners and admins of the organisation, by e-mail. */
async function usersOf(em: EntityManager, { organisationId, workspaceId }: GuardedServer): Promise<User[]> {
  const members = await em.find(workspaceMembers, { organisationId, workspaceId });
  const ids = members.map(({ userId }) => userId);
  return em.find(
    users,
    { organisationId, $or: [{ id: { $in: ids } }, { role: { $ne: 'member' } }] },
    { orderBy: { email: 'asc' } },
  );
}
