import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { type McpConnectionDocument, mcpTokenContext } from '../../../core/contract/protocol/mcp/mcp-connection.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { DocumentSource } from '../../define-resource.ts';
import type { Vault } from '../../secrets/vault.ts';
import { mcpIntegrations } from '../mcp-integrations/entity.ts';
import { mcpServers } from '../mcp-servers/entity.ts';
import { openConnection } from './connection-secrets.ts';
import { type McpConnection, mcpConnections } from './entity.ts';

/** Returns the document of `<server id>/<user id>` or `<server id>/shared`. Null without a connection, or if it is for another URL. */
export async function toMcpConnectionDocument(
  { database, vault, clusterKey }: DocumentSource,
  id: string,
): Promise<McpConnectionDocument | null> {
  const [serverId = '', user = ''] = id.split('/');
  if (!isUuid(serverId) || (user !== 'shared' && !isUuid(user))) return null;
  const em = database.em();
  const row = await em.findOne(mcpConnections, { serverId, userId: user === 'shared' ? null : user });
  if (!row) return null;
  const server = await em.findOne(mcpServers, { id: serverId, organisationId: row.organisationId, status: 'active' });
  if (!server) return null;
  const where = { id: server.integrationId, organisationId: row.organisationId };
  const integration = await em.findOneOrFail(mcpIntegrations, where);
  return integration.url === row.url ? connectionDocument(em, { vault, clusterKey }, row) : null;
}

/** Returns the document with the access token, sealed with a key of CLUSTER_KEY for gateways. The refresh token stays in the control plane. */
export async function connectionDocument(
  em: EntityManager,
  { vault, clusterKey }: { readonly vault: Vault; readonly clusterKey: Uint8Array },
  row: McpConnection,
): Promise<McpConnectionDocument> {
  const { id, organisationId, workspaceId, serverId, tokenId } = row;
  const { accessToken } = await openConnection(em, vault, row);
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return {
    ...{ id, organisationId, workspaceId, serverId, tokenId, userId: row.userId ?? null },
    token: seal(key, accessToken, mcpTokenContext({ id, tokenId })),
    ...lifeOf(row),
  };
}

/** Returns when the token of a row was issued, and when it ends. */
export function lifeOf({ lastUpdatedAt, expiresAt }: McpConnection): Pick<McpConnectionDocument, 'expiresAt' | 'issuedAt'> {
  return { issuedAt: lastUpdatedAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null };
}
