import type * as v from 'valibot';
import { sharingHint } from '../../access/integration-access.ts';
import { announceAgentServer } from '../../announce/agent-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, conflict } from '../../http/errors.ts';
import { findActiveIn, workspacesWithActive } from '../../http/filters/active-items.ts';
import type { Change } from '../../publish/write-change.ts';
import { agentIntegrationAccess } from '../agent-integrations/service.ts';
import { type AgentServer, agentServers } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

/** Adds a server of an integration that the workspace may use. */
export async function createAgentServer(
  change: Change,
  { organisationId, workspaceId }: WorkspaceTenant,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<AgentServer> {
  const { tx } = change;
  const tenant = { organisationId, workspaceId };
  const integration = await agentIntegrationAccess
    .findReadable(tx, tenant, sent.agent_integration_id)
    .catch(asReference('agent_integration_id', 'Agent integration', sharingHint('agent-integrations')));
  const slug = sent.slug ?? newSlug('', sent.name.slice(0, 40));
  if ((await tx.count(agentServers, { ...tenant, slug, status: 'active' })) > 0) {
    throw conflict(`slug: an agent server with the slug ${slug} already exists in this workspace`);
  }
  const now = new Date();
  const row = tx.create(agentServers, {
    ...{ id: newId(), organisationId, workspaceId, integrationId: integration.id, slug, name: sent.name },
    ...{ description: sent.description ?? null, defaultUserAccess: 'allow' as const, status: 'active' as const },
    ...{ ownerId: actor.userId ?? actor.keyId, createdAt: now, lastUpdatedAt: now },
  });
  await tx.flush();
  change.about(row);
  announceAgentServer(change, row, 'upsert');
  return row;
}

/** Changes the members that were sent, and announces the server to gateways. */
export function updateAgentServer(change: Change, row: AgentServer, sent: v.InferOutput<typeof updateBody>): void {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  row.lastUpdatedAt = new Date();
  change.about(row);
  announceAgentServer(change, row, 'upsert');
}

/** Keeps the row. Gateways remove the server when they receive the notice. */
export function archiveAgentServer(change: Change, row: AgentServer): void {
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  change.about(row);
  announceAgentServer(change, row, 'delete');
}

export const findAgentServer = findActiveIn(agentServers, 'Agent server');
export const workspacesWithAgentServer = workspacesWithActive(agentServers);
