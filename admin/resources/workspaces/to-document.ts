import type { WorkspaceDocument } from '../../../core/contract/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { configs } from '../configs/entity.ts';
import { workspaces } from './entity.ts';

/** What gateways see of a workspace; null when there is none or it is archived. */
export async function toWorkspaceDocument(em: EntityManager, id: string): Promise<WorkspaceDocument | null> {
  const row = await em.findOne(workspaces, { id, status: 'active' });
  if (!row) return null;
  const config = await em.findOne(configs, { workspaceId: id, isDefault: true, status: 'active' });
  const { slug, organisationId, metadata } = row;
  return { id, slug, organisationId, defaultConfigSlug: config?.slug ?? null, metadata };
}
