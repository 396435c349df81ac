import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { usableRows } from '../../access/workspace-sharing.ts';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type McpIntegration, mcpIntegrations, mcpIntegrationWorkspaces } from '../mcp-integrations/entity.ts';
import { type Workspace, workspaces } from '../workspaces/entity.ts';
import { type McpServer, mcpServers } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readReply, updateBody } from './schema.ts';
import { archiveMcpServer, createMcpServer, findMcpServer, updateMcpServer, workspacesWithMcpServer } from './service.ts';
import { toDetail, toRow } from './to-reply.ts';

const shared = { resource: 'mcp_servers', query: tenantQuery, body: null } as const;
const ofItem = {
  ...shared,
  tenant: 'workspace',
  path: '/mcp-servers/:mcpServerId',
  workspacesWith: workspacesWithMcpServer,
} as const;

/** Routes of the MCP servers of workspaces. */
export const mcpServerRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/mcp-servers',
    summary: 'List MCP servers, newest first',
    scopes: ['mcp_servers.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query, services }) {
      const where: FilterQuery<McpServer>[] = [{ organisationId, status: 'active' }];
      if (workspaceId !== null) where.push({ workspaceId });
      if (query.id !== undefined) where.push(isUuid(query.id) ? { id: query.id } : { slug: query.id });
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, mcpServers, { $and: where }, page);
      const of = await ownersOf(em, rows);
      return { object: 'list', total, data: rows.map((row) => toRow(services.settings, row, ...of(row))) };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'workspace',
    method: 'POST',
    path: '/mcp-servers',
    summary: 'Add an MCP server of an integration to a workspace',
    scopes: ['mcp_servers.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId as string };
      const made = await call.write((change) => createMcpServer(change, tenant, call.actor, call.body));
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'mcp-server' };
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'GET',
    summary: 'Read an MCP server and its integration',
    scopes: ['mcp_servers.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findMcpServer(call.em, call, call.params.mcpServerId ?? '');
      call.tag(row.revision);
      const of = await ownersOf(call.em, [row]);
      return toDetail(call.services.settings, row, ...of(row));
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'PUT',
    summary: 'Change name and description of an MCP server',
    scopes: ['mcp_servers.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findMcpServer(change.tx, call, call.params.mcpServerId ?? '', 'for update');
        call.match(row);
        requireUnchanged('slug', call.body.slug, row.slug);
        requireUnchanged('mcp_integration_id', call.body.mcp_integration_id, row.integrationId);
        updateMcpServer(change, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'DELETE',
    summary: 'Archive an MCP server; calls of it are refused at once',
    scopes: ['mcp_servers.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findMcpServer(change.tx, call, call.params.mcpServerId ?? '', 'for update');
        call.match(row);
        archiveMcpServer(change, row);
      });
      return {};
    },
  }),
];

/** Returns a function that gives the workspace and the integration of each of these servers, and whether the one may use the other. */
async function ownersOf(
  em: EntityManager,
  rows: readonly McpServer[],
): Promise<(row: McpServer) => readonly [Workspace, McpIntegration, boolean]> {
  const idsOf = (key: 'workspaceId' | 'integrationId') => ({ $in: [...new Set(rows.map((row) => row[key]))] });
  const [first] = rows;
  const organisationId = first?.organisationId ?? '';
  if (!first) return () => [] as never;
  const spaces = new Map((await em.find(workspaces, { organisationId, id: idsOf('workspaceId') })).map((one) => [one.id, one]));
  const sources = new Map(
    (await em.find(mcpIntegrations, { organisationId, id: idsOf('integrationId') })).map((one) => [one.id, one]),
  );
  const usable = await usableRows(em, mcpIntegrationWorkspaces, rows, sources);
  return (row) => [
    spaces.get(row.workspaceId) as Workspace,
    sources.get(row.integrationId) as McpIntegration,
    usable.has(row.id),
  ];
}
