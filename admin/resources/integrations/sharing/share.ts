import type * as v from 'valibot';
import { findWorkspace } from '../../../access/resolve-workspace.ts';
import { announceProviders } from '../../../announce/providers.ts';
import { newId, newSlug } from '../../../db/new-id.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import { asReference, invalid } from '../../../http/errors.ts';
import { mergeUsageLimits, raisesLimit, type UsageLimits, type UsageLimitsBody } from '../../../limits/schema.ts';
import type { Change } from '../../../publish/write-change.ts';
import { providers } from '../../providers/entity.ts';
import { workspaces } from '../../workspaces/entity.ts';
import { type Integration, type IntegrationWorkspace, integrations, integrationWorkspaces } from '../entity.ts';
import type { workspacesBody } from '../schema.ts';
import { requireOpenReferences } from '../secret-mappings/mapping-rights.ts';
import { mappingsOf } from '../secret-mappings/secret-mappings.ts';
import { createProvider } from './create-provider.ts';

type Body = v.InferOutput<typeof workspacesBody>;

/**
 * Opens an organisation's integration to workspaces, or closes it. Opening creates a provider in each workspace without one,
 * unless the request disables that. Closing keeps the providers but disables them.
 */
export async function shareIntegration(change: Change, integration: Integration, body: Body): Promise<void> {
  if (integration.workspaceId) throw invalid('workspaces: this integration belongs to one workspace and cannot be shared');
  change.about(integration);
  if (body.global_workspace_access !== undefined) await shareWithAll(change, integration, body, body.global_workspace_access);
  for (const [index, one] of body.workspaces.entries()) {
    const workspace = await findWorkspace(change.tx, integration.organisationId, one.id).catch(
      asReference(`workspaces[${index}].id`, 'Workspace'),
    );
    const row = await rowOf(change.tx, integration, workspace.id);
    row.enabled = one.enabled;
    row.lastUpdatedAt = new Date();
    setLimits(row, one, `workspaces[${index}]`);
    await change.tx.flush();
    if (one.enabled && (one.create_default_provider ?? body.create_default_provider)) {
      const slug = one.default_provider_slug ?? body.default_provider_slug ?? integration.slug;
      await addProvider(change, integration, workspace.id, slug);
    }
    await announceProviders(change, integration.id, one.enabled ? 'upsert' : 'delete', workspace.id);
  }
  await requireOpenReferences(change.tx, integration, await mappingsOf(change.tx, integration), 'workspaces');
  integration.lastUpdatedAt = new Date();
  change.about(integration);
}

/** Creates a provider of each integration that is open to all workspaces, for a new workspace. */
export async function addGlobalProviders(
  change: Change,
  workspace: { readonly id: string; readonly organisationId: string },
): Promise<void> {
  const { organisationId } = workspace;
  const open = { organisationId, workspaceId: null, status: 'active', globalWorkspaceAccess: true } as const;
  for (const one of await change.tx.find(integrations, { ...open, globalProviderSlug: { $ne: null } })) {
    await addProvider(change, one, workspace.id, await freeSlug(change.tx, workspace.id, one.globalProviderSlug ?? one.slug));
  }
}

async function shareWithAll(
  change: Change,
  integration: Integration,
  body: Body,
  access: NonNullable<Body['global_workspace_access']>,
): Promise<void> {
  const { tx } = change;
  integration.globalWorkspaceAccess = access.enabled;
  const makes = access.enabled && body.create_default_provider;
  integration.globalProviderSlug = makes ? (body.default_provider_slug ?? integration.slug) : null;
  const path = 'global_workspace_access.usage_limits[0]';
  if (access.usage_limits !== undefined) {
    integration.globalUsageLimits = merged(integration.globalUsageLimits ?? null, access.usage_limits, path);
  }
  if (access.rate_limits !== undefined) integration.globalRateLimits = access.rate_limits ?? [];
  if (body.override_existing_workspace_access ?? body.override_existing_workspaces_access) {
    for (const row of await tx.find(integrationWorkspaces, { integrationId: integration.id })) {
      row.enabled = access.enabled;
      row.usageLimits = integration.globalUsageLimits && { ...integration.globalUsageLimits, id: newId() };
      row.rateLimits = integration.globalRateLimits;
      row.lastUpdatedAt = new Date();
    }
  }
  await tx.flush();
  if (makes) {
    const closed = await tx.find(integrationWorkspaces, { integrationId: integration.id, enabled: false });
    const without = { id: { $nin: closed.map((row) => row.workspaceId) } };
    const all = { organisationId: integration.organisationId, status: 'active', ...without } as const;
    for (const workspace of await tx.find(workspaces, all)) {
      const slug = await freeSlug(tx, workspace.id, integration.globalProviderSlug ?? integration.slug);
      await addProvider(change, integration, workspace.id, slug);
    }
  }
  await announceProviders(change, integration.id, 'upsert');
}

/** Creates a provider if the workspace has none of this integration. */
async function addProvider(change: Change, integration: Integration, workspaceId: string, slug: string): Promise<void> {
  if ((await change.tx.count(providers, { integrationId: integration.id, workspaceId })) > 0) return;
  const tenant = { organisationId: integration.organisationId, workspaceId };
  await createProvider(change, tenant, { name: integration.name, slug, integrationId: integration.id });
}

/** Returns the slug, or a variant of it if another provider uses it. */
async function freeSlug(tx: EntityManager, workspaceId: string, slug: string): Promise<string> {
  return (await tx.count(providers, { workspaceId, slug })) === 0 ? slug : newSlug('', slug);
}

/** Returns the stored decision about the workspace, or a new row that is closed. */
async function rowOf(tx: EntityManager, integration: Integration, workspaceId: string): Promise<IntegrationWorkspace> {
  const { id: integrationId, organisationId } = integration;
  const found = await tx.findOne(integrationWorkspaces, { integrationId, workspaceId }, { refresh: true });
  if (found) return found;
  const now = new Date();
  return tx.create(integrationWorkspaces, {
    ...{ integrationId, workspaceId, organisationId, enabled: false },
    usageLimits: null,
    rateLimits: [],
    lastResetAt: null,
    exhaustedAt: null,
    createdAt: now,
    lastUpdatedAt: now,
  });
}

/** A higher limit or a manual reset re-enables an exhausted budget. */
function setLimits(row: IntegrationWorkspace, sent: Body['workspaces'][number], path: string): void {
  if (sent.usage_limits !== undefined) {
    const before = row.usageLimits ?? null;
    row.usageLimits = merged(before, sent.usage_limits, `${path}.usage_limits[0]`);
    if (raisesLimit(before, row.usageLimits)) row.exhaustedAt = null;
  }
  if (sent.rate_limits !== undefined) row.rateLimits = sent.rate_limits ?? [];
  if (sent.reset_usage) {
    row.lastResetAt = new Date();
    row.exhaustedAt = null;
  }
}

function merged(before: UsageLimits | null, sent: readonly UsageLimitsBody[] | null, path: string): UsageLimits | null {
  const [one] = sent ?? [];
  return one === undefined ? null : mergeUsageLimits(before, one, { path, anyThreshold: true });
}
