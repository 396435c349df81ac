import type { WorkspaceModelsDocument } from '../../../core/contract/protocol/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { integrations } from '../integrations/entity.ts';
import { listModels } from '../integrations/models/models.ts';
import { usableMappings } from '../integrations/secret-mappings/mapped-documents.ts';
import { mayUse } from '../integrations/service.ts';
import { workspaces } from '../workspaces/entity.ts';
import { providers } from './entity.ts';
import { statusOf } from './to-reply.ts';

/**
 * Returns the model catalogue of a workspace: its usable providers and their models. Null if there is no such workspace. It
 * changes with the `provider` documents of the workspace, so a change of models must announce the providers.
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
    if ((await usableMappings(em, integration, workspaceId)) === null) continue;
    const open = (await listModels(em, integration)).filter((model) => model.enabled);
    const models = open.map(({ slug, canonicalSlug }) => ({ slug, canonicalSlug, created: 0 }));
    list.push({ slug: row.slug, provider: integration.aiProviderId, models });
  }
  return { id: workspaceId, organisationId, providers: list };
}
