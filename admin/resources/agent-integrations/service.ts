import { LockMode } from '@mikro-orm/core';
import type * as v from 'valibot';
import { mayUse, type SentSharing, shareWithWorkspaces } from '../../access/workspace-sharing.ts';
import { announceAgentServers } from '../../announce/agent-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/actor.ts';
import { conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { agentServers } from '../agent-servers/entity.ts';
import { type AgentIntegration, agentIntegrations, agentIntegrationWorkspaces } from './entity.ts';
import { dropHeaders, putSettings } from './headers.ts';
import type { createBody, updateBody } from './schema.ts';

interface Tenant {
  readonly organisationId: string;
  /** Null: the organisation itself. */
  readonly workspaceId: string | null;
}

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
  if ((await tx.count(agentIntegrations, { organisationId, slug, status: 'active' })) > 0) {
    throw conflict(`slug: an agent integration with the slug ${slug} already exists`);
  }
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
  change.about(row.id);
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
  change.about(row.id);
  await announceAgentServers(change, row.id, 'upsert');
}

/** Archives an integration with its servers and deletes its headers. */
export async function archiveAgentIntegration(change: Change, row: AgentIntegration): Promise<void> {
  row.status = 'archived';
  dropHeaders(row);
  row.lastUpdatedAt = new Date();
  change.about(row.id);
  await announceAgentServers(change, row.id, 'delete');
  const active = { organisationId: row.organisationId, integrationId: row.id, status: 'active' } as const;
  await change.tx.nativeUpdate(agentServers, active, { status: 'archived', lastUpdatedAt: new Date() });
}

/** Opens an integration of the organisation to workspaces, or closes it. Closing stops calls at once. */
export async function shareAgentIntegration(change: Change, row: AgentIntegration, body: SentSharing): Promise<void> {
  await shareWithWorkspaces(change, agentIntegrationWorkspaces, row, body);
  await announceAgentServers(change, row.id, 'upsert');
}

/** Returns an active integration that the actor owns. `for update` locks the row until the end of the transaction. Throws AB08. */
export async function findOwnAgentIntegration(
  em: EntityManager,
  call: Tenant,
  idOrSlug: string,
  lock?: 'for update',
): Promise<AgentIntegration> {
  const where = { ...itemOf(call, idOrSlug), status: 'active' as const };
  const found = await em.findOne(agentIntegrations, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('Agent integration');
  return found;
}

/** Returns an integration that the actor may read: in a workspace, its own and those shared with it. Throws AB08. */
export async function findReadableAgentIntegration(em: EntityManager, call: Tenant, idOrSlug: string): Promise<AgentIntegration> {
  if (call.workspaceId === null) return findOwnAgentIntegration(em, call, idOrSlug);
  const found = await findOwnAgentIntegration(em, { ...call, workspaceId: null }, idOrSlug);
  if (!(await mayUseAgentIntegration(em, found, call.workspaceId))) throw notFound('Agent integration');
  return found;
}

/** Returns true if the integration belongs to the workspace or is shared with it. */
export function mayUseAgentIntegration(em: EntityManager, row: AgentIntegration, workspaceId: string): Promise<boolean> {
  return mayUse(em, agentIntegrationWorkspaces, row, workspaceId);
}

/** Throws AB03 unless the actor may do this to integrations of this owner: those of the organisation have scopes of their own. */
export function requireAgentOwner(actor: Actor, workspaceId: string | null | undefined, action: string): void {
  if (!workspaceId && actor.workspaceId !== null) {
    throw forbidden('Agent integrations of the organisation require an organisation API key');
  }
  const groups = workspaceId
    ? ['workspace_agent_integrations', 'organisation_agent_integrations']
    : ['organisation_agent_integrations'];
  if (groups.some((group) => actor.scopes.has(`${group}.${action}`))) return;
  throw forbidden(`The API key or user lacks the scope ${groups.map((group) => `${group}.${action}`).join(' or ')}`);
}

/** An integration that authenticates with headers needs one. */
function requireHeaders(row: AgentIntegration): void {
  if (row.authType === 'headers' && row.customHeaders === null) {
    throw invalid('configurations.headers: required by auth_type headers');
  }
}
