import type * as v from 'valibot';
import { integrationAccess } from '../../access/integration-access.ts';
import { type SentSharing, shareWithWorkspaces } from '../../access/workspace-sharing.ts';
import { announceMcpServers } from '../../announce/mcp-servers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { identityHeader } from './call-settings.ts';
import { type McpIntegration, mcpIntegrations, mcpIntegrationWorkspaces } from './entity.ts';
import { dropHeaders, putSettings } from './headers.ts';
import { mcpSecretMappings } from './mapping-entity.ts';
import { putRestApi, type ReadOpenApi } from './rest/rest-api.ts';
import type { createBody, updateBody } from './schema.ts';
import { mcpMappingsOf, putMappings, requireOpenMappings } from './secret-mappings.ts';

export const mcpIntegrationAccess = integrationAccess<McpIntegration>({
  table: mcpIntegrations,
  sharing: mcpIntegrationWorkspaces,
  named: 'an MCP integration',
  scopes: 'mcp_integrations',
});

/** Stores an integration. Emits nothing: only its servers are documents. */
export async function createMcpIntegration(
  change: Change,
  vault: Vault,
  tenant: Tenant,
  actor: Actor,
  sent: Omit<v.InferOutput<typeof createBody>, 'url'> & { url: string },
  openApi: ReadOpenApi | undefined,
): Promise<McpIntegration> {
  const { tx } = change;
  const slug = sent.slug ?? newSlug('', sent.name);
  await mcpIntegrationAccess.requireFreeSlug(tx, tenant.organisationId, slug);
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
  requireAuthentication(row);
  await tx.flush();
  await putRestApi(change, row, openApi);
  await putMappings(tx, actor, row, sent.secret_mappings, null);
  await requireHeaders(tx, row);
  change.about(row);
  return row;
}

/** Updates the sent fields and announces every server of the integration. */
export async function updateMcpIntegration(
  change: Change,
  vault: Vault,
  actor: Actor,
  row: McpIntegration,
  sent: v.InferOutput<typeof updateBody>,
  openApi: ReadOpenApi | undefined,
): Promise<void> {
  const movedFrom = row.url;
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.url !== undefined) row.url = sent.url;
  if (sent.auth_type !== undefined) row.authType = sent.auth_type;
  if (sent.transport !== undefined) row.transport = sent.transport;
  await putSettings(change.tx, vault, row, sent.configurations, movedFrom);
  requireAuthentication(row);
  await putRestApi(change, row, openApi);
  await putMappings(change.tx, actor, row, sent.secret_mappings, movedFrom);
  if (sent.auth_type !== undefined || sent.configurations !== undefined || sent.secret_mappings !== undefined) {
    await requireHeaders(change.tx, row);
  }
  row.lastUpdatedAt = new Date();
  change.about(row);
  await announceMcpServers(change, row.id, 'upsert');
}

/** Archives an integration with its servers and deletes its headers. */
export async function archiveMcpIntegration(change: Change, row: McpIntegration): Promise<void> {
  row.status = 'archived';
  dropHeaders(row);
  await change.tx.nativeDelete(mcpSecretMappings, { organisationId: row.organisationId, integrationId: row.id });
  row.lastUpdatedAt = new Date();
  change.about(row);
  await announceMcpServers(change, row.id, 'delete');
  const active = { organisationId: row.organisationId, integrationId: row.id, status: 'active' } as const;
  await change.tx.nativeUpdate(mcpServers, active, { status: 'archived', lastUpdatedAt: new Date() });
}

/** Opens an integration of the organisation to workspaces, or closes it. Closing stops calls at once. */
export async function shareMcpIntegration(change: Change, row: McpIntegration, body: SentSharing): Promise<void> {
  await shareWithWorkspaces(change, mcpIntegrationWorkspaces, row, body);
  await requireOpenMappings(change.tx, row);
  await announceMcpServers(change, row.id, 'upsert');
}

/** Throws AB01 for `auth_type` headers without any header: no call could authenticate. */
async function requireHeaders(tx: EntityManager, row: McpIntegration): Promise<void> {
  const { forward_headers, user_identity_forwarding } = row.configurations;
  if (row.authType !== 'headers' || row.customHeaders || forward_headers || user_identity_forwarding) return;
  if ((await mcpMappingsOf(tx, row)).length > 0) return;
  throw invalid(
    'configurations.headers: required by auth_type headers. Send headers, passthrough_headers, forward_headers or secret_mappings, or auth_type none',
  );
}

/** Throws AB01 if the settings do not fit the authentication. */
function requireAuthentication(row: McpIntegration): void {
  const isMachine = row.authType === 'oauth_client_credentials';
  if (isMachine && !(row.configurations.oauth_metadata?.client_id && row.clientSecret)) {
    throw invalid(
      'configurations.oauth_metadata: client_id and client_secret are required by auth_type oauth_client_credentials',
    );
  }
  if (row.authType === 'oauth_auto' && row.configurations.jwt_validation) {
    throw invalid(
      'configurations.jwt_validation: not together with auth_type oauth_auto. The account at the server belongs to the user of the key, and the external token may name another person',
    );
  }
  const identity = row.configurations.user_identity_forwarding;
  const isOAuth = row.authType === 'oauth_auto' || isMachine;
  if (isOAuth && identity && identityHeader(identity) === 'authorization') {
    throw invalid(
      `configurations.user_identity_forwarding.header_name: authorization has the token of auth_type ${row.authType}. Name another header`,
    );
  }
}
