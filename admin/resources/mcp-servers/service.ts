import type * as v from 'valibot';
import { sharingHint } from '../../access/integration-access.ts';
import { announceMcpServer } from '../../announce/mcp-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, conflict } from '../../http/errors.ts';
import { findActiveIn, workspacesWithActive } from '../../http/filters/active-items.ts';
import type { Change } from '../../publish/write-change.ts';
import { mcpIntegrationAccess } from '../mcp-integrations/service.ts';
import { mcpVirtualServers } from '../mcp-virtual-servers/entity.ts';
import { type McpServer, mcpServers } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

/** Adds a server of an integration that the workspace may use. */
export async function createMcpServer(
  change: Change,
  tenant: WorkspaceTenant,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<McpServer> {
  const { tx } = change;
  const integration = await mcpIntegrationAccess
    .findReadable(tx, tenant, sent.mcp_integration_id)
    .catch(asReference('mcp_integration_id', 'MCP integration', sharingHint('mcp-integrations')));
  const slug = sent.slug ?? newSlug('', sent.name.slice(0, 40));
  const taken = { ...tenant, slug, status: 'active' } as const;
  if ((await tx.count(mcpServers, taken)) + (await tx.count(mcpVirtualServers, taken)) > 0) {
    throw conflict(`slug: an MCP server with the slug ${slug} already exists in this workspace`);
  }
  const now = new Date();
  const row = tx.create(mcpServers, {
    id: newId(),
    organisationId: tenant.organisationId,
    workspaceId: tenant.workspaceId,
    integrationId: integration.id,
    slug,
    name: sent.name,
    description: sent.description ?? null,
    toolSearch: sent.tool_search ?? false,
    defaultUserAccess: 'allow',
    status: 'active',
    ownerId: actor.userId ?? actor.keyId,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  change.about(row);
  announceMcpServer(change, row, 'upsert');
  return row;
}

/** Changes the members that were sent, and announces the server to gateways. */
export function updateMcpServer(change: Change, row: McpServer, sent: v.InferOutput<typeof updateBody>): void {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.tool_search !== undefined) row.toolSearch = sent.tool_search;
  row.lastUpdatedAt = new Date();
  change.about(row);
  announceMcpServer(change, row, 'upsert');
}

/** Keeps the row. Gateways remove the server when they receive the notice. */
export function archiveMcpServer(change: Change, row: McpServer): void {
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  change.about(row);
  announceMcpServer(change, row, 'delete');
}

export const findMcpServer = findActiveIn(mcpServers, 'MCP server');
export const workspacesWithMcpServer = workspacesWithActive(mcpServers);
