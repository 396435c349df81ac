import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { PriceHistory } from '../../../pricing/price-history.ts';
import type { PricingConfig } from '../../../pricing/schema.ts';

/** Settings of one model of an integration. For models without a row `allowAllModels` applies. */
export const integrationModels = defineEntity({
  name: 'IntegrationModel',
  tableName: 'integration_models',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    slug: p.text(),
    /** Display name; null: its slug is shown. */
    name: p.text().nullable(),
    enabled: p.boolean(),
    isCustom: p.boolean(),
    isFinetune: p.boolean(),
    /** Base model; its price applies if this model has none. */
    baseModelSlug: p.text().nullable(),
    /** The price that was saved last. */
    pricingConfig: p.json().$type<PricingConfig>().nullable(),
    /** All versions with their times; null: `pricingConfig` applies at all times. */
    pricingHistory: p.json().$type<PriceHistory<PricingConfig>>().nullable(),
    /** Host for calls of this model, instead of the integration's host. */
    customHost: p.text().nullable(),
    /** JSON of the model's headers, name to value, sealed by the organisation's data key; null when there are none. */
    customHeaders: p.text().nullable(),
    /** For reads: each header with its value, masked if it looks like a credential. */
    headerNames: p.json().$type<Record<string, string>>(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    revision: p.integer().version(),
  },
});

export type IntegrationModel = InferEntity<typeof integrationModels>;
