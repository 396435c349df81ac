import type { WorkspaceModelsDocument } from '../../../core/contract/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { knownModels } from '../../internal/known-models.ts';
import { providers } from '../providers/entity.ts';
import { statusOf } from '../providers/routes.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type Integration, integrations } from './entity.ts';
import { mayUse } from './service.ts';

/**
 * The catalogue of a workspace: its usable providers and their models. Null when there is no such workspace. It changes with the
 * `provider` documents of the workspace, so whoever changes models announces the providers.
 */
export async function toModelsDocument(em: EntityManager, workspaceId: string): Promise<WorkspaceModelsDocument | null> {
  const workspace = await em.findOne(workspaces, { id: workspaceId, status: 'active' });
  if (!workspace) return null;
  const { organisationId } = workspace;
  const rows = await em.find(providers, { workspaceId }, { orderBy: { slug: 'asc' } });
  const list: WorkspaceModelsDocument['providers'] = [];
  for (const row of rows) {
    if (statusOf(row, Date.now()) === 'expired') continue;
    const integration = await em.findOne(integrations, { id: row.integrationId, organisationId, status: 'active' });
    if (!integration || !(await mayUse(em, integration, workspaceId))) continue;
    const models = deploymentsOf(integration) ?? knownModels(integration.aiProviderId);
    list.push({ slug: row.slug, provider: integration.aiProviderId, models });
  }
  return { id: workspaceId, organisationId, providers: list };
}

/** Where models are called by the names of deployments, those are the models: an alias with the model behind it. */
function deploymentsOf(integration: Integration): WorkspaceModelsDocument['providers'][number]['models'] | null {
  const rows = integration.configurations.azure_deployment_config;
  if (!Array.isArray(rows) || rows.length === 0) return null;
  return rows.map((row: Record<string, unknown>) => {
    const model = typeof row.azure_model_slug === 'string' ? row.azure_model_slug : null;
    return { slug: String(row.alias ?? row.azure_deployment_name), canonicalSlug: model, created: 0 };
  });
}
