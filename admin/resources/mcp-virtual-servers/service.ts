import { LockMode } from '@mikro-orm/core';
import type * as v from 'valibot';
import { allTools } from '../../../core/contract/protocol/mcp-virtual.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/actor.ts';
import { asReference, conflict, invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { findMcpServer } from '../mcp-servers/service.ts';
import { type McpVirtualServer, mcpVirtualServers, type SelectedTool } from './entity.ts';
import type { createBody, SentTools, updateBody } from './schema.ts';

interface WorkspaceTenant {
  readonly organisationId: string;
  readonly workspaceId: string;
}

const listTimeoutDefaultMs = 5_000;

export async function createVirtualServer(
  change: Change,
  tenant: WorkspaceTenant,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<McpVirtualServer> {
  const { tx } = change;
  const slug = sent.slug ?? newSlug('', sent.name.slice(0, 40));
  const taken = { ...tenant, slug, status: 'active' } as const;
  if ((await tx.count(mcpServers, taken)) + (await tx.count(mcpVirtualServers, taken)) > 0) {
    throw conflict(`slug: an MCP server with the slug ${slug} already exists in this workspace`);
  }
  const now = new Date();
  const row = tx.create(mcpVirtualServers, {
    id: newId(),
    organisationId: tenant.organisationId,
    workspaceId: tenant.workspaceId,
    slug,
    name: sent.name,
    description: sent.description ?? null,
    tools: await selected(tx, tenant, sent.tools),
    listTimeoutMs: sent.list_timeout_ms ?? listTimeoutDefaultMs,
    toolSearch: sent.tool_search ?? false,
    status: 'active',
    ownerId: actor.userId ?? actor.keyId,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  announce(change, row, 'upsert');
  return row;
}

export async function updateVirtualServer(
  change: Change,
  row: McpVirtualServer,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.tools !== undefined) row.tools = await selected(change.tx, row, sent.tools);
  if (sent.list_timeout_ms !== undefined) row.listTimeoutMs = sent.list_timeout_ms;
  if (sent.tool_search !== undefined) row.toolSearch = sent.tool_search;
  row.lastUpdatedAt = new Date();
  announce(change, row, 'upsert');
}

export function archiveVirtualServer(change: Change, row: McpVirtualServer): void {
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  announce(change, row, 'delete');
}

/** Returns an active virtual server of the actor's workspace. `for update` locks the row. Throws AB08. */
export async function findVirtualServer(
  em: EntityManager,
  call: { readonly organisationId: string; readonly workspaceId: string | null },
  idOrSlug: string,
  lock?: 'for update',
): Promise<McpVirtualServer> {
  const where = { ...itemOf(call, idOrSlug), status: 'active' as const };
  const found = await em.findOne(mcpVirtualServers, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('MCP virtual server');
  return found;
}

/** Ids of the workspaces of the organisation that have an active virtual server with this slug. */
export async function workspacesWithVirtualServer(em: EntityManager, organisationId: string, slug: string): Promise<string[]> {
  const rows = await em.find(mcpVirtualServers, { organisationId, slug, status: 'active' });
  return rows.map(({ workspaceId }) => workspaceId);
}

/** Returns the selection as it is stored. Throws AB02 for an unknown server and AB01 for a name that is used twice. */
async function selected(em: EntityManager, tenant: WorkspaceTenant, sent: SentTools): Promise<SelectedTool[]> {
  const names = new Set<string>();
  const tools: SelectedTool[] = [];
  const servers = new Map<string, string>();
  for (const [index, one] of sent.entries()) {
    const at = `tools[${index}]`;
    requireFitting(one, at);
    const { mcp_server_id: server } = one;
    const name = one.tool === allTools ? (one.prefix ?? '') : (one.name ?? one.tool);
    const key = one.tool === allTools ? `${allTools} ${server}` : name;
    if (names.has(key)) throw invalid(duplicate(at, one, name));
    names.add(key);
    const { organisationId, workspaceId } = tenant;
    const reference = asReference(`${at}.mcp_server_id`, 'MCP server');
    const serverId =
      servers.get(server) ?? (await findMcpServer(em, { organisationId, workspaceId }, server).catch(reference)).id;
    servers.set(server, serverId);
    tools.push({ serverId, tool: one.tool, name, description: one.description ?? null, arguments: one.arguments ?? {} });
  }
  return tools;
}

/** Throws AB01 for members that do not fit. */
function requireFitting({ tool, name, description, arguments: fixed, prefix }: SentTools[number], at: string): void {
  if (tool !== allTools) {
    if (prefix !== undefined) throw invalid(`${at}.prefix: only tool * (all tools of a server) has a prefix. Use name`);
    return;
  }
  const member = Object.entries({ name, description, arguments: fixed }).find(([, value]) => value !== undefined)?.[0];
  if (member !== undefined) throw invalid(`${at}.${member}: not possible with tool * (all tools of a server)`);
}

function duplicate(at: string, { tool }: SentTools[number], name: string): string {
  if (tool === allTools) return `${at}.tool: all tools of this server are selected already`;
  return `${at}.name: another tool is named ${name.slice(0, 128)}. Choose a name of its own`;
}

function announce(change: Change, { id, workspaceId, slug }: McpVirtualServer, op: 'upsert' | 'delete'): void {
  change.about(id);
  change.emit({ kind: 'mcp-server', id: `${workspaceId}/${slug}`, op });
}
