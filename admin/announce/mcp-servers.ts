import type { Change } from '../publish/write-change.ts';
import { type McpServer, mcpServers } from '../resources/mcp-servers/entity.ts';

/** Emits the event of a server. */
export function announceMcpServer(
  change: Change,
  server: Pick<McpServer, 'workspaceId' | 'slug'>,
  op: 'upsert' | 'delete',
): void {
  change.emit({ kind: 'mcp-server', id: `${server.workspaceId}/${server.slug}`, op });
}

/** Emits one event for each active server of an integration. */
export async function announceMcpServers(change: Change, integrationId: string, op: 'upsert' | 'delete'): Promise<void> {
  for (const server of await change.tx.find(mcpServers, { integrationId, status: 'active' }))
    announceMcpServer(change, server, op);
}
