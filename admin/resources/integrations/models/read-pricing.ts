import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { skipProvisionedNames } from '../../../../core/providers/declarations.ts';
import { executeBound } from '../../../db/execute-bound.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import { historyOf } from '../../../pricing/price-history.ts';
import type { IntegrationPricing } from '../../../pricing/price-record.ts';
import type { Integration } from '../entity.ts';
import { deploymentsOf } from './deployments.ts';
import type { IntegrationModel } from './model-entity.ts';

type Priced = Pick<RequestRecord, 'workspaceId' | 'providerSlug' | 'model'>;

interface ProviderRow extends Pick<Integration, 'configurations'> {
  readonly workspace_id: string;
  readonly slug: string;
  readonly integration_id: string;
  readonly ai_provider_id: string;
  readonly pricing_adjustments: Integration['pricingAdjustments'];
  readonly pricing_history: Integration['pricingHistory'];
}

interface ModelRow {
  readonly integration_id: string;
  readonly slug: string;
  readonly base_model_slug: string | null;
  readonly pricing_config: IntegrationModel['pricingConfig'];
  readonly pricing_history: IntegrationModel['pricingHistory'];
}

/**
 * Reads the price settings of the integrations behind a batch of records with two statements, however many records there are. The
 * returned function gives null for records whose provider is not stored or has been deleted. Rows of the ORM took 4 µs for each record.
 */
export async function readPricing(
  em: EntityManager,
  records: readonly Priced[],
): Promise<(record: Priced) => IntegrationPricing | null> {
  const wanted = new Map<string, { workspace_id: string; slug: string }>();
  for (const { workspaceId, providerSlug: slug } of records) {
    if (workspaceId !== null && slug !== null) wanted.set(`${workspaceId}/${slug}`, { workspace_id: workspaceId, slug });
  }
  if (wanted.size === 0) return () => null;
  const rows = await executeBound<ProviderRow>(em, selectProviders, [JSON.stringify([...wanted.values()])]);
  const aliases = new Map(
    rows.map((row) => [
      row.integration_id,
      deploymentsOf({ aiProviderId: row.ai_provider_id, configurations: row.configurations }),
    ]),
  );
  const names = new Set(records.map(({ model }) => model ?? ''));
  for (const { alias, model } of [...aliases.values()].flat()) if (names.has(alias)) names.add(model);
  const models = await executeBound<ModelRow>(em, selectModels, [
    JSON.stringify([...aliases.keys()]),
    JSON.stringify([...names]),
  ]);
  const pricing = new Map<string, IntegrationPricing>();
  for (const row of rows) {
    const own = models.filter((model) => model.integration_id === row.integration_id);
    pricing.set(`${row.workspace_id}/${row.slug}`, {
      adjustments: historyOf(row.pricing_history, row.pricing_adjustments),
      models: new Map(own.map((one) => [one.slug, modelPricingOf(one)])),
      aliases: new Map(aliases.get(row.integration_id)?.map(({ alias, model }) => [alias, model])),
      skipsProvisioned: skipProvisionedNames.some((name) => row.configurations[name] === true),
    });
  }
  return ({ workspaceId, providerSlug }) => pricing.get(`${workspaceId}/${providerSlug}`) ?? null;
}

const selectProviders = `select p.workspace_id, p.slug, p.integration_id, i.ai_provider_id, i.configurations, i.pricing_adjustments, i.pricing_history
  from providers p join integrations i on i.id = p.integration_id
  where (p.workspace_id, p.slug) in (select * from jsonb_to_recordset($1::jsonb) as wanted(workspace_id uuid, slug text))`;

const selectModels = `select integration_id, slug, base_model_slug, pricing_config, pricing_history from integration_models
  where integration_id in (select text::uuid from jsonb_array_elements_text($1::jsonb) text)
    and slug in (select jsonb_array_elements_text($2::jsonb))
    and (pricing_config is not null or pricing_history is not null or base_model_slug is not null)`;

function modelPricingOf({ pricing_history, pricing_config, base_model_slug }: ModelRow) {
  return { pricing: historyOf(pricing_history, pricing_config), baseModel: base_model_slug };
}
