import { deleteInBatches, type OldRows } from '../../db/delete-in-batches.ts';
import type { EntityManager } from '../../db/open-database.ts';

type Table = 'request_records' | 'record_contents' | 'feedbacks';

/** Deletes rows created before this time, of one organisation or workspace or (null) of all, and returns their number. */
export function forgetOldRecords(
  em: EntityManager,
  before: Date,
  isClosing: () => boolean,
  table: Table = 'request_records',
  owner: OldRows['owner'] = null,
): Promise<number> {
  return deleteInBatches(em, {
    ...{ table, keys: ['id', 'created_at'], time: 'created_at', before, owner, batchRows: 1_000, isClosing },
  });
}

/**
 * Deletes records of an organisation created before this time, and returns their number. Workspace by workspace, because records have no
 * index by organisation.
 */
export async function forgetRecordsOf(
  em: EntityManager,
  organisationId: string,
  before: Date,
  isClosing: () => boolean,
): Promise<number> {
  const workspaces = await em.execute<{ id: string }[]>('select id from workspaces where organisation_id = ? order by id', [
    organisationId,
  ]);
  let deleted = 0;
  for (const { id } of workspaces) {
    deleted += await forgetOldRecords(em, before, isClosing, 'request_records', { workspace_id: id });
  }
  return (
    deleted +
    (await forgetOldRecords(em, before, isClosing, 'request_records', { workspace_id: null, organisation_id: organisationId }))
  );
}
