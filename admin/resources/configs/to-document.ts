import type { ConfigDocument } from '../../../core/contract/protocol/documents.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import { configs, configVersions } from './entity.ts';

/** Returns the document of the config `<workspace id>/<slug>`, in which tokens may also name its id. Null if there is none. */
export async function toConfigDocument(em: EntityManager, workspaceId: string, name: string): Promise<ConfigDocument | null> {
  const own = { workspaceId, status: 'active' } as const;
  const config =
    (await readRow(em, configs, { ...own, slug: name })) ??
    (isUuid(name) ? await readRow(em, configs, { ...own, id: name }) : null);
  if (!config) return null;
  const version = await readRow(em, configVersions, { id: config.versionId });
  if (!version) throw new Error('a config has no version');
  const { id, slug, organisationId, versionId } = config;
  return { id, slug, versionId, organisationId, workspaceId, config: version.config };
}
