import { keyPurposes, type ProviderDocument } from '../../../core/contract/documents.ts';
import { deriveKey, seal } from '../../../core/contract/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Vault } from '../../secrets/vault.ts';
import { integrations } from '../integrations/entity.ts';
import { openSecrets } from '../integrations/secrets.ts';
import { mayUse } from '../integrations/service.ts';
import { providers } from './entity.ts';
import { statusOf } from './routes.ts';

/**
 * What gateways see of the provider `<workspace id>/<slug>`: the provider and the integration behind it as one. Secrets are
 * opened and sealed again with the key that only the cluster's processes can derive, bound to this provider's row id.
 * Null when there is none, or its integration is archived or not shared to the workspace.
 */
export async function toProviderDocument(
  em: EntityManager,
  vault: Vault,
  clusterKey: Uint8Array,
  workspaceId: string,
  slug: string,
): Promise<ProviderDocument | null> {
  const row = await em.findOne(providers, { workspaceId, slug });
  if (!row) return null;
  const { organisationId } = row;
  const integration = await em.findOne(integrations, { id: row.integrationId, organisationId, status: 'active' });
  if (!integration || !(await mayUse(em, integration, workspaceId))) return null;
  const secrets = await openSecrets(em, vault, integration);
  const { custom_headers: customHeaders, ...settings } = integration.configurations;
  const transport = deriveKey(clusterKey, keyPurposes.transport);
  return {
    id: row.id,
    slug,
    organisationId,
    workspaceId,
    integrationId: integration.id,
    provider: integration.aiProviderId,
    status: statusOf(row, Date.now()),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    settings,
    customHeaders: (customHeaders ?? {}) as Record<string, string>,
    secrets: Object.keys(secrets).length === 0 ? null : seal(transport, JSON.stringify(secrets), `provider/${row.id}`),
  };
}
