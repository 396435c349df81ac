import { listServerUsers, type SentUserAccess, setServerUsers, type UserAccessQuery } from '../../access/server-users.ts';
import { announceMcpServer } from '../../announce/mcp-servers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { mcpConnections } from '../mcp-connections/entity.ts';
import { type McpServer, mcpServerUsers } from './entity.ts';

/** Returns one page of the users of the server's workspace, with their access. */
export async function listUserAccess(em: EntityManager, row: McpServer, query: UserAccessQuery) {
  const page = await listServerUsers(em, mcpServerUsers, row, query);
  const ofUsers = { organisationId: row.organisationId, serverId: row.id, userId: { $ne: null } };
  const connected = new Set((await em.find(mcpConnections, ofUsers, { fields: ['userId'] })).map((one) => one.userId));
  const statusOf = (id: string) => (connected.has(id) ? 'connected' : 'not_connected');
  return { ...page, data: page.data.map((one) => ({ ...one, connection_status: statusOf(one.user_id) })) };
}

/** Sets the access of the named users, and the default for all other users. Throws AB01 for a user who cannot use the workspace. */
export async function setUserAccess(change: Change, row: McpServer, sent: SentUserAccess): Promise<void> {
  await setServerUsers(change, mcpServerUsers, row, sent);
  announceMcpServer(change, row, 'upsert');
}
