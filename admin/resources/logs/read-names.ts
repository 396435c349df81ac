import type { EntityManager } from '../../db/open-database.ts';
import { organisations } from '../organisations/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import type { StoredRecord } from './entity.ts';
import type { LogNames } from './to-log.ts';

/** Reads the names of the organisations and workspaces of these records. */
export async function readNames(em: EntityManager, rows: readonly StoredRecord[]): Promise<(row: StoredRecord) => LogNames> {
  const ids = (field: 'organisationId' | 'workspaceId') => [...new Set(rows.flatMap((row) => row[field] ?? []))];
  const organisationRows = await em.find(organisations, { id: { $in: ids('organisationId') } });
  const workspaceRows = await em.find(workspaces, { id: { $in: ids('workspaceId') } });
  const organisationNames = new Map(organisationRows.map((row) => [row.id, row.name]));
  const workspaceSlugs = new Map(workspaceRows.map((row) => [row.id, row.slug]));
  return (row) => ({
    organisationName: organisationNames.get(row.organisationId ?? '') ?? null,
    workspaceSlug: workspaceSlugs.get(row.workspaceId ?? '') ?? null,
  });
}
