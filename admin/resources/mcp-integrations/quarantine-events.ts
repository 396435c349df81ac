import type { Change } from '../../publish/write-change.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { addDeliveries } from '../webhooks/add-deliveries.ts';
import type { McpCapability, McpIntegration } from './entity.ts';
import { isQuarantined, statusOf } from './tool-approvals.ts';

/** Maximum number of tools that one event names. */
const namedMax = 100;

/** Adds an event for each workspace that has a server of the integration, if some of these tools are quarantined. */
export async function addQuarantineEvents(change: Change, row: McpIntegration, changed: readonly McpCapability[]): Promise<void> {
  if (!row.configurations.tools?.pinned) return;
  const tools = changed.filter(isQuarantined).map((one) => ({ name: one.name, status: statusOf(one) }));
  if (tools.length === 0) return;
  const { id, slug, organisationId } = row;
  const servers = await change.tx.find(mcpServers, { organisationId, integrationId: id, status: 'active' });
  for (const workspaceId of new Set(servers.map((one) => one.workspaceId))) {
    const data = {
      mcp_integration_id: id,
      mcp_integration: slug,
      mcp_servers: servers.filter((one) => one.workspaceId === workspaceId).map((one) => one.slug),
      tools: tools.slice(0, namedMax),
      total: tools.length,
    };
    await addDeliveries(change.tx, { organisationId, workspaceId, event: 'mcp.tools_quarantined', data });
  }
}
