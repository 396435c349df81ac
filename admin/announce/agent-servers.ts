import type { Change } from '../publish/write-change.ts';
import { type AgentServer, agentServers } from '../resources/agent-servers/entity.ts';

/** Emits the event of an agent. */
export function announceAgentServer(
  change: Change,
  server: Pick<AgentServer, 'workspaceId' | 'slug'>,
  op: 'upsert' | 'delete',
): void {
  change.emit({ kind: 'agent-server', id: `${server.workspaceId}/${server.slug}`, op });
}

/** Emits one event for each active server of an integration. */
export async function announceAgentServers(change: Change, integrationId: string, op: 'upsert' | 'delete'): Promise<void> {
  for (const server of await change.tx.find(agentServers, { integrationId, status: 'active' }))
    announceAgentServer(change, server, op);
}
