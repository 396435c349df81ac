import type { EntityManager } from '../../db/open-database.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import type { SealContext, Vault } from '../../secrets/vault.ts';
import type { McpIntegration } from './entity.ts';

/** Returns the OAuth client secret of an integration; null if it has none. */
export async function openClientSecret(em: EntityManager, vault: Vault, row: McpIntegration): Promise<string | null> {
  return row.clientSecret ? vault.open(em, contextOf(row), row.clientSecret) : null;
}

/** Seals a sent secret into the row. A masked or absent value keeps the stored one, null and an empty text remove it. */
export async function putClientSecret(em: EntityManager, vault: Vault, row: McpIntegration, sent: string | null | undefined) {
  if (sent === undefined || (sent !== null && isMasked(sent))) return;
  row.clientSecret = sent ? await vault.seal(em, contextOf(row), sent) : null;
}

function contextOf({ organisationId, id }: McpIntegration): SealContext {
  return { organisationId, table: 'mcp_integrations', column: 'client_secret', rowId: id };
}
