import type { EntityManager } from '../../db/open-database.ts';
import { organisations } from '../organisations/entity.ts';
import { checkMetadata as checkAgainst } from '../organisations/metadata-schema.ts';

/** Throws AB01 unless the metadata of a new or changed key matches the JSON schema of the organisation, if it has one. */
export async function checkMetadata(
  em: EntityManager,
  organisationId: string,
  metadata: Readonly<Record<string, string>>,
  path?: string,
): Promise<void> {
  const { settings } = await em.findOneOrFail(organisations, { id: organisationId });
  checkAgainst(settings?.api_key_metadata_schema, metadata, path);
}
