import type { Settings } from '../../../../config/settings.ts';
import { namesOf } from '../../../../core/contract/values/models/names-of.ts';
import { announceProviders } from '../../../announce/providers.ts';
import { newId } from '../../../db/new-id.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import { invalid } from '../../../http/errors.ts';
import { checkHost } from '../../../http/gateways/check-host.ts';
import { knownModels } from '../../../pricing/known-models.ts';
import { historyOf, withPrice } from '../../../pricing/price-history.ts';
import type { Change } from '../../../publish/write-change.ts';
import { sealedHeaders, unchangedHeaders } from '../../../secrets/sealed-headers.ts';
import type { Vault } from '../../../secrets/vault.ts';
import type { Integration } from '../entity.ts';
import { deploymentsOf } from './deployments.ts';
import { type IntegrationModel, integrationModels } from './model-entity.ts';
import type { ModelBody, ModelsBody } from './model-schema.ts';

/** Services that store models. */
export interface ModelServices {
  readonly vault: Vault;
  readonly settings: Pick<Settings, 'trustedCustomHosts'>;
}

/** Adds models and changes existing ones. Other models stay. Announces every provider of the integration. */
export async function putModels(
  change: Change,
  services: ModelServices,
  integration: Integration,
  body: ModelsBody,
): Promise<void> {
  const { tx } = change;
  if (body.allow_all_models !== undefined) integration.allowAllModels = body.allow_all_models;
  const slugs = body.models.map(({ slug }) => slug);
  const found = await tx.find(integrationModels, { integrationId: integration.id, slug: { $in: slugs } });
  const bySlug = new Map(found.map((row) => [row.slug, row]));
  for (const [index, sent] of body.models.entries()) {
    const row = bySlug.get(sent.slug) ?? create(tx, integration, sent.slug);
    await update(tx, services, row, sent, `models[${index}]`);
  }
  integration.lastUpdatedAt = new Date();
  await tx.flush();
  change.about(integration);
  await announceProviders(change, integration.id, 'upsert');
}

/** Removes custom and fine-tuned models of these names. The provider's own models can only be disabled. */
export async function removeModels(change: Change, integration: Integration, slugs: readonly string[]): Promise<void> {
  const own = { $or: [{ isCustom: true }, { isFinetune: true }] };
  await change.tx.nativeDelete(integrationModels, { integrationId: integration.id, slug: { $in: [...slugs] }, ...own });
  integration.lastUpdatedAt = new Date();
  change.about(integration);
  await announceProviders(change, integration.id, 'upsert');
}

export interface ListedModel {
  readonly slug: string;
  readonly enabled: boolean;
  /** The value of `enabled` without stored settings. It is false for another name of a disabled model, even if all models are allowed. */
  readonly enabledUnlisted: boolean;
  /** Stored settings of the model; null if there are none. */
  readonly row: IntegrationModel | null;
  /** The vendor's name of the model, if it differs. */
  readonly canonicalSlug: string | null;
}

/**
 * All models of an integration: its deployments, or else the public models of its provider, and those that were added. The models of a
 * `custom_host` are unknown here: only added ones are listed.
 */
export async function listModels(em: EntityManager, integration: Integration): Promise<ListedModel[]> {
  const rows = await em.find(integrationModels, { integrationId: integration.id }, { orderBy: { slug: 'asc' } });
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  const canonical = new Map<string, string | null>();
  const deployments = deploymentsOf(integration);
  for (const { alias, model } of deployments) canonical.set(alias, model === alias ? null : model);
  const isPublic = deployments.length === 0 && !integration.configurations.custom_host;
  if (isPublic) for (const { slug } of knownModels(integration.aiProviderId)) canonical.set(slug, null);
  for (const row of rows) if (!canonical.has(row.slug)) canonical.set(row.slug, row.baseModelSlug ?? null);
  const isDisabled = namesOf(rows.filter((row) => !row.enabled).map((row) => row.slug));
  return [...canonical].map(([slug, canonicalSlug]) => {
    const row = bySlug.get(slug) ?? (canonicalSlug === null ? undefined : bySlug.get(canonicalSlug)) ?? null;
    const enabledUnlisted = integration.allowAllModels && !isDisabled(slug);
    return { slug, canonicalSlug, row, enabled: row?.enabled ?? enabledUnlisted, enabledUnlisted };
  });
}

/** The headers of models. */
export const sealedModelHeaders = sealedHeaders<IntegrationModel>('integration_models');

function create(tx: EntityManager, integration: Integration, slug: string): IntegrationModel {
  const now = new Date();
  return tx.create(integrationModels, {
    id: newId(),
    organisationId: integration.organisationId,
    integrationId: integration.id,
    slug,
    name: null,
    enabled: true,
    isCustom: false,
    isFinetune: false,
    baseModelSlug: null,
    pricingConfig: null,
    pricingHistory: null,
    customHost: null,
    customHeaders: null,
    headerNames: {},
    createdAt: now,
    lastUpdatedAt: now,
  });
}

async function update(
  tx: EntityManager,
  { vault, settings }: ModelServices,
  row: IntegrationModel,
  sent: ModelBody,
  path: string,
): Promise<void> {
  row.enabled = sent.enabled;
  // Clients send back the slug that reads show as the name.
  if (sent.name !== undefined) row.name = sent.name === row.slug ? null : sent.name;
  if (sent.is_custom !== undefined) row.isCustom = sent.is_custom ?? false;
  if (sent.is_finetune !== undefined) row.isFinetune = sent.is_finetune ?? false;
  if (sent.base_model_slug !== undefined) row.baseModelSlug = sent.base_model_slug;
  if (sent.pricing_config !== undefined) {
    const when = { from: sent.pricing_effective_from, now: new Date() };
    row.pricingHistory = withPrice(historyOf(row.pricingHistory, row.pricingConfig), sent.pricing_config, when);
    row.pricingConfig = sent.pricing_config;
  } else if (sent.pricing_effective_from !== undefined) {
    throw invalid(`${path}.pricing_effective_from: needs pricing_config`);
  }
  const { custom_host: host, custom_headers: inner } =
    sent.configurations === null ? { custom_host: null, custom_headers: null } : (sent.configurations ?? {});
  if (typeof host === 'string') checkHost(settings, host, `${path}.configurations.custom_host`);
  if (host !== undefined) row.customHost = host;
  const headers = sent.custom_headers === undefined ? inner : sent.custom_headers;
  if (headers !== undefined) {
    const before = await sealedModelHeaders.open(tx, vault, row);
    await sealedModelHeaders.put(tx, vault, row, unchangedHeaders(before, headers ?? {}));
  }
  row.lastUpdatedAt = new Date();
}
