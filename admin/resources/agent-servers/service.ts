import { LockMode } from '@mikro-orm/core';
import type * as v from 'valibot';
import { sharingHint } from '../../access/integration-access.ts';
import { announceAgentServer } from '../../announce/agent-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, conflict, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { agentIntegrationAccess } from '../agent-integrations/service.ts';
import { type AgentServer, agentServers } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

interface WorkspaceTenant {
  readonly organisationId: string;
  readonly workspaceId: string;
}

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

/** Returns an active server of the actor's workspace. `for update` locks the row until the end of the transaction. Throws AB08. */
export async function findAgentServer(
  em: EntityManager,
  call: { readonly organisationId: string; readonly workspaceId: string | null },
  idOrSlug: string,
  lock?: 'for update',
): Promise<AgentServer> {
  const where = { ...itemOf(call, idOrSlug), status: 'active' as const };
  const found = await em.findOne(agentServers, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('Agent server');
  return found;
}

/** Ids of the workspaces of the organisation that have an active server with this slug. */
export async function workspacesWithAgentServer(em: EntityManager, organisationId: string, slug: string): Promise<string[]> {
  const rows = await em.find(agentServers, { organisationId, slug, status: 'active' });
  return rows.map(({ workspaceId }) => workspaceId);
}
