import { type BudgetUsage, usageLimitsReply } from '../../limits/schema.ts';
import { masked } from '../../secrets/sealed-fields.ts';
import type { Integration } from '../integrations/entity.ts';
import { shownSettingsOf } from '../integrations/headers.ts';
import type { Mapping } from '../integrations/secret-mappings/mapping-table.ts';
import { mappingsReplyOf } from '../integrations/secret-mappings/secret-mappings.ts';
import type { Provider } from './entity.ts';

/** Returns the effective state: expired after its end, else exhausted while its budget is used up, else the stored one. */
export function statusOf(
  row: { readonly expiresAt?: Date | null; readonly exhaustedAt?: Date | null },
  now: number,
): 'active' | 'exhausted' | 'expired' {
  if (row.expiresAt && row.expiresAt.getTime() <= now) return 'expired';
  return row.exhaustedAt ? 'exhausted' : 'active';
}

/**
 * Reply form of a provider, with its budget usage if loaded. `isUsable` is false if its workspace can no longer use the integration. The last
 * characters of the credential and its mappings are shown if they are the workspace's own.
 */
export function toReply(
  row: Provider,
  integration: Integration | null,
  isUsable: boolean,
  usage?: ReadonlyMap<string, BudgetUsage>,
  mapped: readonly Mapping[] = [],
) {
  const own = integration?.workspaceId ? integration : null;
  const hint = own?.secretHints.api_key;
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    integration_id: integration?.slug ?? row.integrationId,
    ai_provider_name: integration?.aiProviderId ?? null,
    workspace_id: row.workspaceId,
    organisation_id: row.organisationId,
    note: row.note ?? null,
    status: isUsable ? statusOf(row, Date.now()) : 'archived',
    usage_limits: usageLimitsReply(row.usageLimits ?? null, usage?.get(row.usageLimits?.id ?? '')),
    rate_limits: row.rateLimits.length > 0 ? row.rateLimits : null,
    reset_usage: null,
    last_reset_at: row.lastResetAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    key: hint === undefined ? null : masked(hint),
    masked_api_key: hint === undefined ? null : masked(hint),
    model_config: own ? shownSettingsOf(own) : {},
    tags: row.tags ?? null,
    secret_mappings: own ? mappingsReplyOf(mapped, 'model_config') : [],
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'provider',
  };
}
