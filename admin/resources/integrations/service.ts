import { canonicalProviderId } from '../../../core/providers/declarations.ts';
import { isUsableIn } from '../../access/workspace-sharing.ts';
import { announceProviders } from '../../announce/providers.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { lacksScope } from '../../http/caller/require-scope.ts';
import { conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { findActiveIn } from '../../http/filters/active-items.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { historyOf, withPrice } from '../../pricing/price-history.ts';
import type { PricingAdjustments } from '../../pricing/schema.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import { lowerCased } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import { refuseMove } from './configurations/check-hosts.ts';
import { splitConfigurations } from './configurations/configurations.ts';
import { requireSettings } from './configurations/require-settings.ts';
import { type Integration, integrations, integrationWorkspaces } from './entity.ts';
import { changeHeaders, putHeaders, settingsOf } from './headers.ts';
import { integrationModels } from './models/model-entity.ts';
import { changeMappings } from './secret-mappings/change-mappings.ts';
import { requireMappingRight } from './secret-mappings/mapping-rights.ts';
import { type Mapping, storeMappings } from './secret-mappings/mapping-table.ts';
import { secretMappings } from './secret-mappings/secret-mapping-entity.ts';
import { refuseBoth } from './secret-mappings/secret-mappings.ts';
import { putSecrets } from './secrets.ts';

export interface NewIntegration {
  readonly organisationId: string;
  /** Null: it belongs to the organisation. */
  readonly workspaceId: string | null;
  readonly name: string;
  readonly slug?: string | undefined;
  readonly aiProviderId: string;
  readonly key: string | null;
  readonly description: string | null;
  readonly configurations: Record<string, unknown>;
  /** Fields that are read from secret managers. */
  readonly mapped?: readonly Mapping[];
  readonly pricingAdjustments?: PricingAdjustments | null | undefined;
  readonly tags?: Record<string, unknown> | null | undefined;
}

/** Stores an integration with its secrets sealed. Emits nothing: only its providers are documents. */
export async function createIntegration(change: Change, vault: Vault, sent: NewIntegration): Promise<Integration> {
  const { tx } = change;
  const aiProviderId = canonicalProviderId(sent.aiProviderId);
  const { settings, secrets, headers } = splitConfigurations(aiProviderId, sent.configurations);
  const now = new Date();
  const row = tx.create(integrations, {
    id: newId(),
    organisationId: sent.organisationId,
    workspaceId: sent.workspaceId,
    slug: sent.slug ?? newSlug('', sent.name),
    name: sent.name,
    aiProviderId,
    description: sent.description,
    configurations: withoutNulls(settings),
    secrets: null,
    secretHints: {},
    customHeaders: null,
    headerNames: {},
    globalWorkspaceAccess: false,
    globalUsageLimits: null,
    globalRateLimits: [],
    globalProviderSlug: null,
    allowAllModels: true,
    pricingAdjustments: sent.pricingAdjustments ?? null,
    pricingHistory: null,
    tags: sent.tags ?? null,
    status: 'active',
    createdAt: now,
    lastUpdatedAt: now,
  });
  await putSecrets(tx, vault, row, sent.key === null ? secrets : { ...secrets, api_key: sent.key });
  await putHeaders(tx, vault, row, lowerCased(headers ?? {}));
  const mapped = sent.mapped ?? [];
  refuseBoth(mapped, new Set([...Object.keys(row.configurations), ...Object.keys(row.secretHints)]));
  requireSettings(aiProviderId, row.configurations, secretFieldsOf(row, mapped));
  await tx.flush();
  await storeMappings(tx, secretMappings, row, mapped);
  change.about(row);
  return row;
}

export interface IntegrationChanges {
  readonly name?: string | undefined;
  readonly key?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly configurations?: Record<string, unknown> | null | undefined;
  /** Replaces all previous mappings. */
  readonly mapped?: readonly Mapping[] | undefined;
  readonly pricing_adjustments?: PricingAdjustments | null | undefined;
  readonly pricing_effective_from?: string | undefined;
  readonly tags?: Record<string, unknown> | null | undefined;
}

function putAdjustments(row: Integration, { pricing_adjustments: sent, pricing_effective_from: from }: IntegrationChanges): void {
  if (sent === undefined) {
    if (from !== undefined) throw invalid('pricing_effective_from: needs pricing_adjustments');
    return;
  }
  row.pricingHistory = withPrice(historyOf(row.pricingHistory, row.pricingAdjustments), sent, { from, now: new Date() });
  row.pricingAdjustments = sent;
}

/**
 * Updates the sent fields. Omitted settings stay, null removes one. A new mapping removes the field's value, and a new value
 * removes its mapping. Announces every provider created from the integration.
 */
export async function updateIntegration(
  change: Change,
  vault: Vault,
  actor: Actor,
  row: Integration,
  sent: IntegrationChanges,
): Promise<void> {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  putAdjustments(row, sent);
  if (sent.tags !== undefined) row.tags = sent.tags;
  const { settings, secrets, headers: sentHeaders } = splitConfigurations(row.aiProviderId, sent.configurations ?? {});
  const before = row.configurations;
  // A masked key that was read and sent back means "unchanged".
  const keepsKey = sent.key === undefined || isMasked(sent.key);
  const changes: Record<string, string> = { ...secrets, ...(keepsKey ? {} : { api_key: sent.key ?? '' }) };
  const mapped = await changeMappings(change.tx, row, sent.mapped, { ...settings, ...changes });
  for (const { field, isSecret } of mapped.all) (isSecret ? changes : settings)[field] = isSecret ? '' : null;
  row.configurations = withoutNulls({ ...row.configurations, ...settings });
  const headers = await changeHeaders(change.tx, vault, row, sentHeaders);
  const unchanged = Object.keys(row.secretHints).filter((name) => !Object.hasOwn(changes, name));
  refuseMove(before, row.configurations, [...unchanged, ...headers.unchangedCredentials.map((name) => `custom_headers.${name}`)]);
  requireMappingRight(actor, mapped, before, row.configurations);
  if (Object.keys(changes).length > 0) await putSecrets(change.tx, vault, row, changes);
  await putHeaders(change.tx, vault, row, headers.all);
  requireSettings(row.aiProviderId, row.configurations, secretFieldsOf(row, mapped.all));
  row.lastUpdatedAt = new Date();
  change.about(row);
  await announceProviders(change, row.id, 'upsert');
}

/** Fields that need no value among the plain settings. */
function secretFieldsOf(row: Integration, mapped: readonly Mapping[]): Set<string> {
  return new Set([...Object.keys(row.secretHints), ...mapped.map(({ field }) => field)]);
}

/** Archives an integration and deletes its credentials and those of its models. Its dependents stop working at once. */
export async function archiveIntegration(change: Change, row: Integration, dependents: Dependents): Promise<void> {
  row.status = 'archived';
  row.secrets = null;
  row.secretHints = {};
  row.customHeaders = null;
  row.headerNames = {};
  row.configurations = settingsOf(row);
  const ofModels = { organisationId: row.organisationId, integrationId: row.id };
  await change.tx.nativeUpdate(integrationModels, ofModels, { customHeaders: null, headerNames: {} });
  await storeMappings(change.tx, secretMappings, row, []);
  row.lastUpdatedAt = new Date();
  change.about(row);
  for (const { remove } of dependents.integration) await remove?.(change, row, dependents);
}

/** Returns an integration that the actor owns. Workspace keys can access only those of their workspace. */
export const findOwnIntegration = findActiveIn(integrations, 'Integration');

/** Returns the integration if this workspace may build providers on it, else null. */
export async function findUsableIntegration(
  em: EntityManager,
  tenant: WorkspaceTenant,
  idOrSlug: string,
): Promise<Integration | null> {
  const { organisationId, workspaceId } = tenant;
  const found = await em.findOne(integrations, { ...itemOf({ organisationId, workspaceId: null }, idOrSlug), status: 'active' });
  if (!found) return null;
  return (await mayUse(em, found, workspaceId)) ? found : null;
}

/** Returns an integration that the actor may read: in a workspace, its own integrations and those shared with it. Throws AB08. */
export async function findReadableIntegration(em: EntityManager, call: Tenant, idOrSlug: string): Promise<Integration> {
  const { organisationId, workspaceId } = call;
  if (workspaceId === null) return findOwnIntegration(em, call, idOrSlug);
  const found = await findUsableIntegration(em, { organisationId, workspaceId }, idOrSlug);
  if (!found) throw notFound('Integration');
  return found;
}

/** Returns true if the integration belongs to the workspace or is shared with it. */
export async function mayUse(em: EntityManager, row: Integration, workspaceId: string): Promise<boolean> {
  const decision = row.workspaceId ? null : await readRow(em, integrationWorkspaces, { integrationId: row.id, workspaceId });
  return isUsableIn(row, workspaceId, decision);
}

/** Only organisation keys may manage integrations of the whole organisation. */
export function requireOwner(actor: Actor, workspaceId: string | null, action: string): void {
  const groups = workspaceId === null ? ['organisation_integrations'] : ['workspace_integrations', 'organisation_integrations'];
  if (workspaceId === null && actor.workspaceId !== null)
    throw forbidden('Integrations of the organisation require an organisation API key');
  const accepted = groups.map((group) => `${group}.${action}`);
  if (!accepted.some((scope) => actor.scopes.has(scope))) throw lacksScope(actor, accepted);
}

/** Throws if an active integration of the organisation has the slug. */
export async function requireFreeSlug(em: EntityManager, organisationId: string, slug: string | undefined): Promise<void> {
  if (slug === undefined) return;
  const taken = await em.count(integrations, { organisationId, slug, status: 'active' });
  if (taken > 0) throw conflict(`slug: an integration with the slug ${slug} already exists`);
}

function withoutNulls(settings: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}
