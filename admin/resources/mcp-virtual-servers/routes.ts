import type { FilterQuery } from '@mikro-orm/core';
import { allItems } from '../../../core/contract/protocol/mcp/mcp-virtual.ts';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { type Workspace, workspaces } from '../workspaces/entity.ts';
import { type McpVirtualServer, mcpVirtualServers, type SelectedPrompt, type SelectedTool } from './entity.ts';
import { createBody, createReply, listQuery, listReply, readReply, updateBody } from './schema.ts';
import {
  archiveVirtualServer,
  createVirtualServer,
  findVirtualServer,
  updateVirtualServer,
  workspacesWithVirtualServer,
} from './service.ts';

const shared = { resource: 'mcp_virtual_servers', query: tenantQuery, body: null } as const;
const ofItem = {
  ...shared,
  tenant: 'workspace',
  path: '/mcp-virtual-servers/:mcpVirtualServerId',
  workspacesWith: workspacesWithVirtualServer,
} as const;

/** Routes of virtual MCP servers. Their scopes are those of MCP servers. */
export const mcpVirtualServerRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/mcp-virtual-servers',
    summary: 'List virtual MCP servers, newest first',
    scopes: ['mcp_servers.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, workspaceId, query, services }) {
      const where: FilterQuery<McpVirtualServer>[] = [{ organisationId, status: 'active' }];
      if (workspaceId !== null) where.push({ workspaceId });
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, mcpVirtualServers, { $and: where }, page);
      const ids = [...new Set(rows.map((row) => row.workspaceId))];
      const spaces = new Map((await em.find(workspaces, { organisationId, id: { $in: ids } })).map((one) => [one.id, one]));
      const active = await activeServersOf(em, organisationId, ids);
      const of = (row: McpVirtualServer) => spaces.get(row.workspaceId) as Workspace;
      const data = rows.map((row) => toReply(services.settings.mcpPublicUrl, row, of(row), active));
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'workspace',
    method: 'POST',
    path: '/mcp-virtual-servers',
    summary: 'Add an endpoint with selected tools, prompts and resources of several MCP servers',
    scopes: ['mcp_servers.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const tenant = { organisationId: call.organisationId, workspaceId: call.workspaceId as string };
      const made = await call.write((change) => createVirtualServer(change, tenant, call.actor, call.body));
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'mcp-virtual-server' };
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'GET',
    summary: 'Read a virtual MCP server',
    scopes: ['mcp_servers.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findVirtualServer(call.em, call, call.params.mcpVirtualServerId ?? '');
      call.tag(row.revision);
      const { workspaceId: id, organisationId } = row;
      const workspace = await call.em.findOneOrFail(workspaces, { id, organisationId });
      const active = await activeServersOf(call.em, organisationId, [id]);
      return toReply(call.services.settings.mcpPublicUrl, row, workspace, active);
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'PUT',
    summary: 'Change a virtual MCP server',
    scopes: ['mcp_servers.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findVirtualServer(change.tx, call, call.params.mcpVirtualServerId ?? '', 'for update');
        call.match(row);
        requireUnchanged('slug', call.body.slug, row.slug);
        await updateVirtualServer(change, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...ofItem,
    method: 'DELETE',
    summary: 'Archive a virtual MCP server; calls of it are refused at once',
    scopes: ['mcp_servers.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findVirtualServer(change.tx, call, call.params.mcpVirtualServerId ?? '', 'for update');
        call.match(row);
        archiveVirtualServer(change, row);
      });
      return {};
    },
  }),
];

/** Ids of the active MCP servers of these workspaces. */
async function activeServersOf(em: EntityManager, organisationId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await em.find(mcpServers, { organisationId, workspaceId: { $in: [...ids] }, status: 'active' });
  return new Set(rows.map(({ id }) => id));
}

/** A virtual server as gateways load it: without items of servers that were deleted. */
function toReply(mcpPublicUrl: string, row: McpVirtualServer, workspace: Workspace, active: ReadonlySet<string>) {
  const ofActive = <One extends { readonly serverId: string }>(all: readonly One[]) =>
    all.filter(({ serverId }) => active.has(serverId));
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description ?? null,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    owner_id: row.ownerId,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    tools: ofActive(row.tools).map((one) => ({
      tool: one.tool,
      ...renamedReply(one, one.tool),
      arguments: { ...one.arguments },
    })),
    prompts: ofActive(row.prompts).map((one) => ({
      prompt: one.prompt,
      ...renamedReply(one, one.prompt),
      arguments: { ...one.arguments },
    })),
    resources: ofActive(row.resources).map(({ serverId, ...one }) => ({ mcp_server_id: serverId, ...one })),
    list_timeout_ms: row.listTimeoutMs,
    tool_search: row.toolSearch,
    url: `${mcpPublicUrl}/${workspace.slug}/${row.slug}/mcp`,
    object: 'mcp-virtual-server',
  };
}

function renamedReply({ serverId, name, description }: SelectedTool | SelectedPrompt, item: string) {
  const isAll = item === allItems;
  return { mcp_server_id: serverId, name: isAll ? null : name, description, prefix: isAll ? name : null };
}
