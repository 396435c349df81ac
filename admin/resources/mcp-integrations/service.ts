import { LockMode } from '@mikro-orm/core';
import type * as v from 'valibot';
import { mayUse, type SentSharing, shareWithWorkspaces } from '../../access/workspace-sharing.ts';
import { announceMcpServers } from '../../announce/mcp-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/actor.ts';
import { conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { type McpIntegration, mcpIntegrations, mcpIntegrationWorkspaces } from './entity.ts';
import { dropHeaders, putSettings } from './headers.ts';
import type { createBody, updateBody } from './schema.ts';

interface Tenant {
  readonly organisationId: string;
  /** Null: the organisation itself. */
  readonly workspaceId: string | null;
}

/** Stores an integration. Emits nothing: only its servers are documents. */
export async function createMcpIntegration(
  change: Change,
  vault: Vault,
  tenant: Tenant,
  actor: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<McpIntegration> {
  const { tx } = change;
  const slug = sent.slug ?? newSlug('', sent.name);
  await requireFreeSlug(tx, tenant.organisationId, slug);
  const now = new Date();
  const row = tx.create(mcpIntegrations, {
    id: newId(),
    organisationId: tenant.organisationId,
    workspaceId: tenant.workspaceId,
    slug,
    name: sent.name,
    description: sent.description ?? null,
    url: sent.url,
    authType: sent.auth_type,
    transport: sent.transport,
    configurations: {},
    customHeaders: null,
    headerNames: {},
    clientSecret: null,
    tokenSecret: null,
    globalWorkspaceAccess: false,
    serverInfo: null,
    syncStatus: null,
    syncError: null,
    lastSyncedAt: null,
    status: 'active',
    ownerId: actor.userId ?? actor.keyId,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await putSettings(tx, vault, row, sent.configurations, null);
  requireHeaders(row);
  await tx.flush();
  change.about(row.id);
  return row;
}

/** Updates the sent fields and announces every server of the integration. */
export async function updateMcpIntegration(
  change: Change,
  vault: Vault,
  row: McpIntegration,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  const movedFrom = row.url;
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.url !== undefined) row.url = sent.url;
  if (sent.auth_type !== undefined) row.authType = sent.auth_type;
  if (sent.transport !== undefined) row.transport = sent.transport;
  await putSettings(change.tx, vault, row, sent.configurations, movedFrom);
  requireHeaders(row);
  row.lastUpdatedAt = new Date();
  change.about(row.id);
  await announceMcpServers(change, row.id, 'upsert');
}

/** Archives an integration with its servers and deletes its headers. */
export async function archiveMcpIntegration(change: Change, row: McpIntegration): Promise<void> {
  row.status = 'archived';
  dropHeaders(row);
  row.lastUpdatedAt = new Date();
  change.about(row.id);
  await announceMcpServers(change, row.id, 'delete');
  const active = { organisationId: row.organisationId, integrationId: row.id, status: 'active' } as const;
  await change.tx.nativeUpdate(mcpServers, active, { status: 'archived', lastUpdatedAt: new Date() });
}

/** Opens an integration of the organisation to workspaces, or closes it. Closing stops calls at once. */
export async function shareMcpIntegration(change: Change, row: McpIntegration, body: SentSharing): Promise<void> {
  await shareWithWorkspaces(change, mcpIntegrationWorkspaces, row, body);
  await announceMcpServers(change, row.id, 'upsert');
}

/** Returns an active integration that the actor owns. `for update` locks the row until the end of the transaction. Throws AB08. */
export async function findOwnMcpIntegration(
  em: EntityManager,
  call: Tenant,
  idOrSlug: string,
  lock?: 'for update',
): Promise<McpIntegration> {
  const where = { ...itemOf(call, idOrSlug), status: 'active' as const };
  const found = await em.findOne(mcpIntegrations, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('MCP integration');
  return found;
}

/** Returns an integration that the actor may read: in a workspace, its own and those shared with it. Throws AB08. */
export async function findReadableMcpIntegration(em: EntityManager, call: Tenant, idOrSlug: string): Promise<McpIntegration> {
  if (call.workspaceId === null) return findOwnMcpIntegration(em, call, idOrSlug);
  const found = await findOwnMcpIntegration(em, { ...call, workspaceId: null }, idOrSlug);
  if (!(await mayUseMcpIntegration(em, found, call.workspaceId))) throw notFound('MCP integration');
  return found;
}

/** Returns true if the integration belongs to the workspace or is shared with it. */
export function mayUseMcpIntegration(em: EntityManager, row: McpIntegration, workspaceId: string): Promise<boolean> {
  return mayUse(em, mcpIntegrationWorkspaces, row, workspaceId);
}

/** Throws AB03 unless the actor may do this to integrations of this owner: those of the organisation have scopes of their own. */
export function requireMcpOwner(actor: Actor, workspaceId: string | null | undefined, action: string): void {
  if (!workspaceId && actor.workspaceId !== null) {
    throw forbidden('MCP integrations of the organisation require an organisation API key');
  }
  const groups = workspaceId
    ? ['workspace_mcp_integrations', 'organisation_mcp_integrations']
    : ['organisation_mcp_integrations'];
  if (groups.some((group) => actor.scopes.has(`${group}.${action}`))) return;
  throw forbidden(`The API key or user lacks the scope ${groups.map((group) => `${group}.${action}`).join(' or ')}`);
}

async function requireFreeSlug(em: EntityManager, organisationId: string, slug: string): Promise<void> {
  const taken = await em.count(mcpIntegrations, { organisationId, slug, status: 'active' });
  if (taken > 0) throw conflict(`slug: an MCP integration with the slug ${slug} already exists`);
}

/** An integration that authenticates with headers needs one. */
function requireHeaders(row: McpIntegration): void {
  if (row.authType === 'headers' && row.customHeaders === null) {
    throw invalid('configurations.headers: required by auth_type headers');
  }
  const isMachine = row.authType === 'oauth_client_credentials';
  if (isMachine && !(row.configurations.oauth_metadata?.client_id && row.clientSecret)) {
    throw invalid(
      'configurations.oauth_metadata: client_id and client_secret are required by auth_type oauth_client_credentials',
    );
  }
}
