import type * as v from 'valibot';
import { announceMcpServer } from '../../announce/mcp-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { mcpConnections } from '../mcp-connections/entity.ts';
import { type User, users } from '../users/entity.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { type McpServer, mcpServerUsers } from './entity.ts';
import type { userAccessBody, userAccessQuery } from './user-access-schema.ts';

/** Returns one page of the users of the server's workspace, with their access. */
export async function listUserAccess(em: EntityManager, row: McpServer, query: v.InferOutput<typeof userAccessQuery>) {
  const { page, page_size: size, search = '' } = query;
  const all = await usersOf(em, row);
  const text = search.toLowerCase();
  const found = all.filter((one) =>
    [one.firstName, one.lastName, one.email].some((part) => part?.toLowerCase().includes(text) ?? false),
  );
  const overrides = await em.find(mcpServerUsers, { organisationId: row.organisationId, serverId: row.id });
  const enabledOf = new Map(overrides.map((one) => [one.userId, one.enabled]));
  const ofUsers = { organisationId: row.organisationId, serverId: row.id, userId: { $ne: null } };
  const connected = new Set((await em.find(mcpConnections, ofUsers, { fields: ['userId'] })).map((one) => one.userId));
  const data = found.slice((page - 1) * size, page * size).map((one) => ({
    user_id: one.id,
    first_name: one.firstName ?? null,
    last_name: one.lastName ?? null,
    enabled: enabledOf.get(one.id) ?? row.defaultUserAccess === 'allow',
    has_override: enabledOf.has(one.id),
    connection_status: connected.has(one.id) ? 'connected' : 'not_connected',
  }));
  return {
    ...{ object: 'list', data, default_user_access: row.defaultUserAccess },
    ...{ total: found.length, has_more: page * size < found.length },
  };
}

/** Sets the access of users, and that of all others. Throws AB01 for a user who cannot use the workspace. */
export async function setUserAccess(change: Change, row: McpServer, sent: v.InferOutput<typeof userAccessBody>): Promise<void> {
  const { tx } = change;
  const { organisationId, workspaceId, id: serverId } = row;
  const eligible = new Set((await usersOf(tx, row)).map(({ id }) => id));
  const known = await tx.find(mcpServerUsers, { organisationId, serverId });
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
      known.push(tx.create(mcpServerUsers, fields));
    }
  }
  if (sent.default_user_access !== undefined) row.defaultUserAccess = sent.default_user_access;
  row.lastUpdatedAt = now;
  change.about(row.id);
  announceMcpServer(change, row, 'upsert');
}

/** Members of the workspace, and owners and admins of the organisation, by e-mail. */
async function usersOf(em: EntityManager, { organisationId, workspaceId }: McpServer): Promise<User[]> {
  const members = await em.find(workspaceMembers, { organisationId, workspaceId });
  const ids = members.map(({ userId }) => userId);
  return em.find(
    users,
    { organisationId, $or: [{ id: { $in: ids } }, { role: { $ne: 'member' } }] },
    { orderBy: { email: 'asc' } },
  );
}
