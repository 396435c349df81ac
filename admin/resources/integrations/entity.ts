import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { RateLimit, UsageLimits } from '../../limits/schema.ts';
import type { PriceHistory } from '../../pricing/price-history.ts';
import type { PricingAdjustments } from '../../pricing/schema.ts';

/**
 * A stored account at a model provider: its credential and settings. With a workspace it belongs to that workspace; without
 * one the organisation shares it to workspaces through `integrationWorkspaces`.
 */
export const integrations = defineEntity({
  name: 'Integration',
  tableName: 'integrations',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    aiProviderId: p.text(),
    description: p.text().nullable(),
    /** Settings without secrets, under their wire names. `custom_headers` is among them only in rows of older versions. */
    configurations: p.json().$type<Record<string, unknown>>(),
    /** JSON of the secret settings (`{"api_key": …}`), sealed by the organisation's data key; null when there are none. */
    secrets: p.text().nullable(),
    /** Last characters of each secret by its name, for masked reads. */
    secretHints: p.json().$type<Record<string, string>>(),
    /** JSON of the headers of every call, name to value, sealed by the organisation's data key; null when there are none. */
    customHeaders: p.text().nullable(),
    /** For reads: each header with its value, masked if it looks like a credential. */
    headerNames: p.json().$type<Record<string, string>>(),
    globalWorkspaceAccess: p.boolean(),
    /**
     * Limits of every workspace that has the integration through global access and no limits of its own. Each workspace is
     * counted separately.
     */
    globalUsageLimits: p.json().$type<UsageLimits>().nullable(),
    globalRateLimits: p.json().$type<RateLimit[]>(),
    /** With global access, every workspace gets a provider with this slug; null: no provider is created. */
    globalProviderSlug: p.text().nullable(),
    /** Allows calls to models that `integrationModels` does not list. */
    allowAllModels: p.boolean(),
    /** Multipliers of prices that were saved last. */
    pricingAdjustments: p.json().$type<PricingAdjustments>().nullable(),
    /** All versions with their times; null: `pricingAdjustments` apply at all times. */
    pricingHistory: p.json().$type<PriceHistory<PricingAdjustments>>().nullable(),
    tags: p.json().$type<Record<string, unknown>>().nullable(),
    status: p.text().$type<'active' | 'archived'>(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** Sharing of an organisation's integration with one workspace. */
export const integrationWorkspaces = defineEntity({
  name: 'IntegrationWorkspace',
  tableName: 'integration_workspaces',
  properties: {
    integrationId: p.uuid().primary(),
    workspaceId: p.uuid().primary(),
    organisationId: p.uuid(),
    enabled: p.boolean(),
    usageLimits: p.json().$type<UsageLimits>().nullable(),
    rateLimits: p.json().$type<RateLimit[]>(),
    /** Earlier usage does not count. */
    lastResetAt: p.datetime().nullable(),
    /** Time at which the budget was used up. */
    exhaustedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
  },
});

export type Integration = InferEntity<typeof integrations>;
export type IntegrationWorkspace = InferEntity<typeof integrationWorkspaces>;
