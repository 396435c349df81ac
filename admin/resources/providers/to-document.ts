import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import { isUsableIn } from '../../access/workspace-sharing.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import type { Headers } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import { type Integration, type IntegrationWorkspace, integrations, integrationWorkspaces } from '../integrations/entity.ts';
import { openHeaders, sealedForGateways, settingsOf } from '../integrations/headers.ts';
import { listModels, sealedModelHeaders } from '../integrations/models/models.ts';
import { mappedDocuments, usableMappings } from '../integrations/secret-mappings/mapped-documents.ts';
import { openSecrets } from '../integrations/secrets.ts';
import { providers } from './entity.ts';
import { statusOf } from './to-reply.ts';

/**
 * Returns the document of the provider `<workspace id>/<slug>`, which merges the provider and its integration. Secrets are opened
 * and sealed again with the transport key of the cluster, bound to the provider's row id. Null if there is no such provider, its
 * integration is archived or not shared with the workspace, or it reads from a secret reference that the workspace may not use.
 */
export async function toProviderDocument(
  em: EntityManager,
  vault: Vault,
  clusterKey: Uint8Array,
  workspaceId: string,
  slug: string,
): Promise<ProviderDocument | null> {
  const row = await readRow(em, providers, { workspaceId, slug });
  if (!row) return null;
  const { organisationId } = row;
  const integration = await readRow(em, integrations, { id: row.integrationId, organisationId, status: 'active' });
  if (!integration) return null;
  const access = await readRow(em, integrationWorkspaces, { integrationId: integration.id, workspaceId });
  if (!isUsableIn(integration, workspaceId, access)) return null;
  const mapped = await usableMappings(em, integration, workspaceId);
  if (mapped === null) return null;
  const secrets = await openSecrets(em, vault, integration);
  const headers = await openHeaders(em, vault, integration);
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
    settings: settingsOf(integration),
    customHeaders: {},
    headers: sealedForGateways(clusterKey, row.id, headers),
    secrets: Object.keys(secrets).length === 0 ? null : seal(transport, JSON.stringify(secrets), `provider/${row.id}`),
    mappedSecrets: await mappedDocuments(em, vault, clusterKey, mapped),
    usageLimits: row.usageLimits ?? null,
    usageResetAt: row.lastResetAt?.toISOString() ?? null,
    rateLimits: row.rateLimits,
    integrationLimits: integrationLimitsOf(integration, workspaceId, access),
    models: await modelsOf(em, vault, integration, (json) => seal(transport, json, `provider/${row.id}/models`)),
  };
}

/** Returns the integration's limits for this workspace: those of its row if there is one, else the global ones. */
function integrationLimitsOf(
  integration: Integration,
  workspaceId: string,
  row: IntegrationWorkspace | null,
): NonNullable<ProviderDocument['integrationLimits']> {
  if (!row) {
    const all = integration.globalUsageLimits;
    return {
      // Each workspace has counters of its own.
      usageLimits: all ? { ...all, id: `${all.id}/${workspaceId}` } : null,
      usageResetAt: null,
      rateLimits: integration.globalRateLimits,
      status: 'active',
    };
  }
  return {
    usageLimits: row.usageLimits ?? null,
    usageResetAt: row.lastResetAt?.toISOString() ?? null,
    rateLimits: row.rateLimits,
    status: row.exhaustedAt ? 'exhausted' : 'active',
  };
}

/** Models with settings that differ from the integration's defaults; null if there are none. */
async function modelsOf(
  em: EntityManager,
  vault: Vault,
  integration: Integration,
  sealed: (json: string) => string,
): Promise<ProviderDocument['models']> {
  const allowAll = integration.allowAllModels;
  const list: NonNullable<ProviderDocument['models']>['list'] = [];
  const headers: Record<string, Headers> = {};
  for (const { slug, enabled, enabledUnlisted, row } of await listModels(em, integration)) {
    const customHost = row?.customHost ?? null;
    const hasOwn = (row?.customHeaders ?? null) !== null;
    if (row && hasOwn) headers[slug] = await sealedModelHeaders.open(em, vault, row);
    if (enabled !== allowAll || enabled !== enabledUnlisted || customHost !== null || hasOwn)
      list.push({ slug, enabled, customHost });
  }
  if (allowAll && list.length === 0) return null;
  return { allowAll, list, headers: Object.keys(headers).length === 0 ? null : sealed(JSON.stringify(headers)) };
}
