import type { ConfigDocument } from '../../../core/contract/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { configs, configVersions } from './entity.ts';

/** What gateways see of the config `<workspace id>/<slug>`; null when there is none. */
export async function toConfigDocument(em: EntityManager, workspaceId: string, slug: string): Promise<ConfigDocument | null> {
  const config = await em.findOne(configs, { workspaceId, slug, status: 'active' });
  if (!config) return null;
  const version = await em.findOneOrFail(configVersions, { id: config.versionId });
  const { id, organisationId, versionId } = config;
  return { id, slug, versionId, organisationId, workspaceId, config: version.config };
}
