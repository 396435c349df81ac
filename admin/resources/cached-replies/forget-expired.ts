import { deleteInBatches } from '../../db/delete-in-batches.ts';
import type { EntityManager } from '../../db/open-database.ts';

/** Deletes entries that have expired. */
export async function forgetExpired(em: EntityManager, before: Date, isClosing: () => boolean): Promise<void> {
  await deleteInBatches(em, {
    ...{ table: 'cached_replies', keys: ['workspace_id', 'digest'], time: 'expires_at', before, batchRows: 500, isClosing },
  });
}
