import type * as v from 'valibot';
import { integrationAccess } from '../../access/integration-access.ts';
import { type SentSharing, shareWithWorkspaces } from '../../access/workspace-sharing.ts';
import { announceAgentServers } from '../../announce/agent-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { agentServers } from '../agent-servers/entity.ts';
import { type AgentIntegration, agentIntegrations, agentIntegrationWorkspaces } from './entity.ts';
import { dropHeaders, putSettings } from './headers.ts';
import type { createBody, updateBody } from './schema.ts';

export const agentIntegrationAccess = integrationAccess<AgentIntegration>({
  table: agentIntegrations,
  sharing: agentIntegrationWorkspaces,
  named: 'an agent integration',
  scopes: 'agent_integrations',
});

/** Stores an integration. Emits nothing: only its servers are documents. */
export async function createAgentIntegration(
  change: Change,
  vault: Vault,
  { organisationId, workspaceId }: Tenant,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<AgentIntegration> {
  const { tx } = change;
  const slug = sent.slug ?? newSlug('', sent.name);
  await agentIntegrationAccess.requireFreeSlug(tx, organisationId, slug);
  const now = new Date();
  const row = tx.create(agentIntegrations, {
    ...{ id: newId(), organisationId, workspaceId, slug, name: sent.name, description: sent.description ?? null },
    ...{ url: sent.url, authType: sent.auth_type, configurations: {}, customHeaders: null, headerNames: {} },
    ...{ agentCard: sent.agent_card ?? null, globalWorkspaceAccess: false, status: 'active' as const },
    ...{ ownerId: actor.userId ?? actor.keyId, createdAt: now, lastUpdatedAt: now },
  });
  await putSettings(tx, vault, row, sent.configurations, null);
  requireHeaders(row);
  await tx.flush();
  change.about(row);
  return row;
}

/** Updates the sent fields and announces every server of the integration. */
export async function updateAgentIntegration(
  change: Change,
  vault: Vault,
  row: AgentIntegration,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  const movedFrom = row.url;
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.url !== undefined) row.url = sent.url;
  if (sent.auth_type !== undefined) row.authType = sent.auth_type;
  if (sent.agent_card !== undefined) row.agentCard = sent.agent_card;
  await putSettings(change.tx, vault, row, sent.configurations, movedFrom);
  requireHeaders(row);
  row.lastUpdatedAt = new Date();
  change.about(row);
  await announceAgentServers(change, row.id, 'upsert');
}

/** Archives an integration with its servers and deletes its headers. */
export async function archiveAgentIntegration(change: Change, row: AgentIntegration): Promise<void> {
  row.status = 'archived';
  dropHeaders(row);
  row.lastUpdatedAt = new Date();
  change.about(row);
  await announceAgentServers(change, row.id, 'delete');
  const active = { organisationId: row.organisationId, integrationId: row.id, status: 'active' } as const;
  await change.tx.nativeUpdate(agentServers, active, { status: 'archived', lastUpdatedAt: new Date() });
}

/** Opens an integration of the organisation to workspaces, or closes it. Closing stops calls at once. */
export async function shareAgentIntegration(change: Change, row: AgentIntegration, body: SentSharing): Promise<void> {
  await shareWithWorkspaces(change, agentIntegrationWorkspaces, row, body);
  await announceAgentServers(change, row.id, 'upsert');
}

/** An integration that authenticates with headers needs one. */
function requireHeaders(row: AgentIntegration): void {
  if (row.authType === 'headers' && row.customHeaders === null) {
    throw invalid('configurations.headers: required by auth_type headers');
  }
}
