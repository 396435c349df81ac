import type * as v from 'valibot';
import type { Change } from '../../db/write-change.ts';
import { AdminError } from '../../http/errors.ts';
import { findWorkspace } from '../../http/resolve-workspace.ts';
import { providers } from '../providers/entity.ts';
import { createProvider } from '../providers/service.ts';
import { type Integration, integrationWorkspaces } from './entity.ts';
import type { workspacesBody } from './schema.ts';
import { announceProviders } from './service.ts';

/**
 * Opens an organisation's integration to workspaces, or closes it. Opening makes a provider in a workspace that has none of
 * it yet, unless told not to; closing leaves the providers standing but out of use.
 */
export async function shareIntegration(
  change: Change,
  integration: Integration,
  body: v.InferOutput<typeof workspacesBody>,
): Promise<void> {
  if (integration.workspaceId) throw new AdminError('AB01', 'This integration belongs to one workspace and cannot be shared');
  change.about(integration.id);
  const access = body.global_workspace_access;
  if (access !== undefined) {
    integration.globalWorkspaceAccess = access.enabled;
    if (body.override_existing_workspace_access) {
      const decided = { enabled: access.enabled, lastUpdatedAt: new Date() };
      await change.tx.nativeUpdate(integrationWorkspaces, { integrationId: integration.id }, decided);
    }
    await change.tx.flush();
    await announceProviders(change, integration.id, 'upsert');
  }
  for (const one of body.workspaces) {
    const workspace = await findWorkspace(change.tx, integration.organisationId, one.id);
    await decide(change, integration, workspace.id, one.enabled);
    const wanted = one.enabled && (one.create_default_provider ?? body.create_default_provider);
    if (wanted && (await change.tx.count(providers, { integrationId: integration.id, workspaceId: workspace.id })) === 0) {
      const slug = one.default_provider_slug ?? body.default_provider_slug ?? integration.slug;
      const tenant = { organisationId: integration.organisationId, workspaceId: workspace.id };
      await createProvider(change, tenant, { name: integration.name, slug, integrationId: integration.id });
      change.about(integration.id);
    }
    await announceProviders(change, integration.id, one.enabled ? 'upsert' : 'delete', workspace.id);
  }
}

async function decide(change: Change, integration: Integration, workspaceId: string, enabled: boolean): Promise<void> {
  const { tx } = change;
  const now = new Date();
  const row = await tx.findOne(integrationWorkspaces, { integrationId: integration.id, workspaceId }, { refresh: true });
  if (row) {
    row.enabled = enabled;
    row.lastUpdatedAt = now;
  } else {
    const { id: integrationId, organisationId } = integration;
    tx.create(integrationWorkspaces, { integrationId, workspaceId, organisationId, enabled, createdAt: now, lastUpdatedAt: now });
  }
  await tx.flush();
}
