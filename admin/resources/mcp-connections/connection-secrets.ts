import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { SealContext, Vault } from '../../secrets/vault.ts';
import type { McpConnection } from './entity.ts';
import { oauthClient } from './oauth-client.ts';

const connectionSecrets = v.object({
  accessToken: v.string(),
  /** Null: the server issued none, so the user must connect again. */
  refreshToken: v.nullable(v.string()),
  client: oauthClient,
  tokenEndpoint: v.string(),
  resource: v.string(),
  scope: v.nullable(v.string()),
});
export type ConnectionSecrets = v.InferOutput<typeof connectionSecrets>;

/** Replaces the secrets of the row. The caller stores the row. */
export async function sealConnection(
  em: EntityManager,
  vault: Vault,
  row: McpConnection,
  secrets: ConnectionSecrets,
): Promise<void> {
  row.secrets = await vault.seal(em, contextOf(row), JSON.stringify(secrets));
}

/** Rejects if the secrets were sealed for another user or server. */
export async function openConnection(em: EntityManager, vault: Vault, row: McpConnection): Promise<ConnectionSecrets> {
  return v.parse(connectionSecrets, JSON.parse(await vault.open(em, contextOf(row), row.secrets)));
}

/** Bound to server and user, so that the tokens of one user cannot be moved to the row of another. */
function contextOf({ organisationId, serverId, userId }: McpConnection): SealContext {
  return { organisationId, table: 'mcp_connections', column: 'secrets', rowId: `${serverId}/${userId ?? 'shared'}` };
}
