import type { RequestRecord } from '../../../core/contract/plugin/record.ts';
import { skipProvisionedNames } from '../../../core/providers/declarations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { historyOf } from '../../pricing/price-history.ts';
import type { IntegrationPricing } from '../../pricing/price-record.ts';
import { providers } from '../providers/entity.ts';
import { deploymentsOf } from './deployments.ts';
import { integrations } from './entity.ts';
import { type IntegrationModel, integrationModels } from './model-entity.ts';

type Priced = Pick<RequestRecord, 'workspaceId' | 'providerSlug' | 'model'>;

/**
 * Reads the price settings of the integrations behind a batch of records with three statements, however many records there are.
 * The returned function gives null for records whose provider is not stored or has been deleted.
 */
export async function readPricing(
  em: EntityManager,
  records: readonly Priced[],
): Promise<(record: Priced) => IntegrationPricing | null> {
  const wanted = new Map<string, { workspaceId: string; slug: string }>();
  for (const { workspaceId, providerSlug: slug } of records) {
    if (workspaceId !== null && slug !== null) wanted.set(`${workspaceId}/${slug}`, { workspaceId, slug });
  }
  if (wanted.size === 0) return () => null;
  const rows = await em.find(providers, { $or: [...wanted.values()] });
  const ids = [...new Set(rows.map((row) => row.integrationId))];
  const found = new Map((await em.find(integrations, { id: { $in: ids } })).map((row) => [row.id, row]));
  const names = new Set(records.map(({ model }) => model ?? ''));
  for (const row of found.values()) for (const { alias, model } of deploymentsOf(row)) if (names.has(alias)) names.add(model);
  const models = await em.find(integrationModels, {
    integrationId: { $in: ids },
    slug: { $in: [...names] },
    $or: [{ pricingConfig: { $ne: null } }, { pricingHistory: { $ne: null } }, { baseModelSlug: { $ne: null } }],
  });
  const pricing = new Map<string, IntegrationPricing>();
  for (const row of rows) {
    const integration = found.get(row.integrationId);
    if (!integration) continue;
    const own = models.filter((model) => model.integrationId === integration.id);
    pricing.set(`${row.workspaceId}/${row.slug}`, {
      adjustments: historyOf(integration.pricingHistory, integration.pricingAdjustments),
      models: new Map(own.map((one) => [one.slug, modelPricingOf(one)])),
      aliases: new Map(deploymentsOf(integration).map(({ alias, model }) => [alias, model])),
      skipsProvisioned: skipProvisionedNames.some((name) => integration.configurations[name] === true),
    });
  }
  return ({ workspaceId, providerSlug }) => pricing.get(`${workspaceId}/${providerSlug}`) ?? null;
}

function modelPricingOf({ pricingHistory, pricingConfig, baseModelSlug }: IntegrationModel) {
  return { pricing: historyOf(pricingHistory, pricingConfig), baseModel: baseModelSlug ?? null };
}
