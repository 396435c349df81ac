import type { EntityManager } from '../../db/open-database.ts';
import { usageLimitsReply } from '../../limits/schema.ts';
import { masked, maskedFields } from '../../secrets/sealed-fields.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type Integration, integrationWorkspaces } from './entity.ts';
import { shownSettingsOf } from './headers.ts';
import { mappingsOf, mappingsReplyOf } from './secret-mappings/secret-mappings.ts';

/** An integration in a list. */
export function toRow(row: Integration) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    type: row.workspaceId ? 'workspace' : 'organisation',
    ai_provider_id: row.aiProviderId,
    name: row.name,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    slug: row.slug,
    description: row.description ?? null,
    object: 'integration',
  };
}

/** An integration as its owner reads it, secrets masked. */
export async function toOwnReply(em: EntityManager, row: Integration) {
  const { api_key: keyHint, ...hints } = row.secretHints;
  return {
    ...toRow(row),
    masked_key: keyHint === undefined ? null : masked(keyHint),
    configurations: { ...shownSettingsOf(row), ...maskedFields(hints) },
    global_workspace_access_settings: globalAccessOf(row),
    allow_all_models: row.allowAllModels,
    workspace_count: await countWorkspaces(em, row),
    secret_mappings: mappingsReplyOf(await mappingsOf(em, row), 'configurations'),
    pricing_adjustments: row.pricingAdjustments ?? null,
    pricing_versions: (row.pricingHistory ?? []).map(({ from, value }) => ({ effective_from: from, pricing_adjustments: value })),
    tags: row.tags ?? null,
  };
}

/** Reply form for a workspace that the integration is shared with: without account, prices and other workspaces. */
export function toSharedReply(row: Integration) {
  return {
    ...toRow(row),
    masked_key: null,
    configurations: {},
    global_workspace_access_settings: globalAccessOf(row),
    allow_all_models: row.allowAllModels,
    workspace_count: 1,
    secret_mappings: [],
    pricing_adjustments: null,
    pricing_versions: [],
    tags: row.tags ?? null,
  };
}

/** Returns the global access of the integration: use by workspaces that have no row of their own, and their limits. */
export function globalAccessOf(row: Integration) {
  return {
    enabled: row.globalWorkspaceAccess,
    usage_limits: row.globalUsageLimits ? [usageLimitsReply(row.globalUsageLimits)] : null,
    rate_limits: row.globalRateLimits.length > 0 ? row.globalRateLimits : null,
  };
}

/** Counts the active workspaces that may use the integration, through their own row or through global access. */
async function countWorkspaces(em: EntityManager, row: Integration): Promise<number> {
  if (row.workspaceId) return 1;
  const decided = await em.find(integrationWorkspaces, { integrationId: row.id, enabled: !row.globalWorkspaceAccess });
  const ids = decided.map((one) => one.workspaceId);
  const own = row.globalWorkspaceAccess ? { $nin: ids } : { $in: ids };
  return em.count(workspaces, { organisationId: row.organisationId, status: 'active', id: own });
}
