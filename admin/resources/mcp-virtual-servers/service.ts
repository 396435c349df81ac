import type * as v from 'valibot';
import { newId, newSlug } from '../../db/new-id.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict } from '../../http/errors.ts';
import { findActiveIn, workspacesWithActive } from '../../http/filters/active-items.ts';
import type { Change } from '../../publish/write-change.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { type McpVirtualServer, mcpVirtualServers } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';
import { toSelection } from './selection.ts';

const listTimeoutDefaultMs = 5_000;

/** Throws AB07 if an MCP server or virtual server of the workspace has the slug, AB02 for an unknown server, and AB01 for an invalid selection. */
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
    ...(await toSelection(tx, tenant, sent, { tools: [], prompts: [], resources: [] })),
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

/** Changes the fields that were sent. Throws AB02 for an unknown server, and AB01 for an invalid selection. */
export async function updateVirtualServer(
  change: Change,
  row: McpVirtualServer,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  Object.assign(row, await toSelection(change.tx, row, sent, row));
  if (sent.list_timeout_ms !== undefined) row.listTimeoutMs = sent.list_timeout_ms;
  if (sent.tool_search !== undefined) row.toolSearch = sent.tool_search;
  row.lastUpdatedAt = new Date();
  announce(change, row, 'upsert');
}

/** Keeps the row. Gateways remove the server when they receive the notice. */
export function archiveVirtualServer(change: Change, row: McpVirtualServer): void {
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  announce(change, row, 'delete');
}

export const findVirtualServer = findActiveIn(mcpVirtualServers, 'MCP virtual server');
export const workspacesWithVirtualServer = workspacesWithActive(mcpVirtualServers);

function announce(change: Change, { id, workspaceId, slug }: McpVirtualServer, op: 'upsert' | 'delete'): void {
  change.about({ id, slug, workspaceId });
  change.emit({ kind: 'mcp-server', id: `${workspaceId}/${slug}`, op });
}
