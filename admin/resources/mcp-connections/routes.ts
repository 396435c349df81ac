import * as v from 'valibot';
import { findPage } from '../../db/find-page.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { time, uuid } from '../../http/reply/reply-schemas.ts';
import { currentPage, id, pageOf, tenantEntries, wholeNumber } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { mcpIntegrations } from '../mcp-integrations/entity.ts';
import { findMcpServer, workspacesWithMcpServer } from '../mcp-servers/service.ts';
import { mcpConnections } from './entity.ts';
import { connectionEvent } from './store-tokens.ts';

const shared = {
  tenant: 'workspace',
  workspacesWith: workspacesWithMcpServer,
  path: '/mcp-servers/:mcpServerId/connections',
  resource: 'mcp_connections',
  scopes: ['mcp_servers.read'],
  body: null,
} as const;

const listQuery = v.strictObject({
  ...tenantEntries,
  user_id: v.optional(id),
  current_page: currentPage,
  page_size: v.optional(wholeNumber(1, 500), '100'),
});
const removeQuery = v.strictObject({ ...tenantEntries, user_id: v.optional(id) });

const listReply = v.strictObject({
  object: v.literal('list'),
  data: v.array(v.strictObject({ user_id: uuid, connected: v.boolean(), created_at: time, last_updated_at: time })),
  total: v.number(),
  has_more: v.boolean(),
});

/** Routes of the accounts of users at MCP servers. */
export const mcpConnectionRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    summary: 'List the users who have connected an account at an MCP server. Users see their own connection only',
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { em, query, actor } = call;
      const { id: serverId, organisationId, integrationId } = await findMcpServer(em, call, call.params.mcpServerId ?? '');
      const userId = requireUser(actor, query.user_id);
      const where = { organisationId, serverId, userId: userId ?? { $ne: null } };
      const page = { ...pageOf(query), orderBy: { createdAt: 'asc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, mcpConnections, where, page);
      const { url } = await em.findOneOrFail(mcpIntegrations, { organisationId, id: integrationId });
      const data = rows.map((row) => ({
        user_id: row.userId,
        connected: row.url === url,
        created_at: row.createdAt.toISOString(),
        last_updated_at: row.lastUpdatedAt.toISOString(),
      }));
      return { object: 'list', data, total, has_more: page.offset + rows.length < total };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    hasNoVersion: true,
    summary: 'Delete the connection of a user to an MCP server with its tokens. Without `user_id`, that of the caller',
    action: 'delete',
    query: removeQuery,
    reply: v.strictObject({ success: v.literal(true) }),
    async handle(call) {
      const userId = requireUser(call.actor, call.query.user_id ?? call.actor.userId ?? undefined);
      await call.write(async (change) => {
        const { id: serverId, organisationId } = await findMcpServer(change.tx, call, call.params.mcpServerId ?? '');
        const row = userId && (await change.tx.findOne(mcpConnections, { organisationId, serverId, userId }));
        if (!row) throw notFound('Connection of this user');
        change.about(row);
        change.tx.remove(row);
        change.emit(connectionEvent(row, 'delete'));
      });
      return { success: true };
    },
  }),
];

/** Returns the user whose connections the actor may see; null: all users. Throws AB03 for the connections of others. */
function requireUser({ userId, scopes }: Actor, named: string | undefined): string | null {
  if (scopes.has('mcp_servers.update')) return named?.toLowerCase() ?? null;
  if (userId !== null && (named ?? userId).toLowerCase() === userId) return userId;
  throw forbidden('user_id: the connections of other users require the scope mcp_servers.update');
}
