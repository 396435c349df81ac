import type { ChangesReply } from '../../core/contract/protocol/internal-api.ts';
import type { EntityManager } from '../db/open-database.ts';
import { outbox } from '../publish/entity.ts';

/** Newest revision that is committed. */
export async function readRevision(em: EntityManager): Promise<number> {
  const [row] = await em.execute<[{ revision: string | number }]>('select revision from change_counter');
  return Number(row.revision);
}

/** Maximum number of changes in one reply. */
const changesMax = 5_000;

/** Returns the changes after a revision, oldest first; `reset` if they cannot be listed without a gap. */
export async function readChanges(em: EntityManager, after: number): Promise<ChangesReply> {
  // Read before the rows. Changes committed in between appear as rows beyond it, and the next request finds them again.
  const revision = await readRevision(em);
  if (after > revision) return { revision, reset: true, changes: [] };
  if (after === revision) return { revision, reset: false, changes: [] };
  const where = { revision: { $gt: after, $lte: revision } };
  const rows = await em.find(outbox, where, { orderBy: { revision: 'asc' }, limit: changesMax });
  if (rows[0]?.revision !== after + 1) return { revision, reset: true, changes: [] };
  return {
    revision,
    reset: false,
    changes: rows.map(({ revision, kind, documentId, op }) => ({ revision, kind, id: documentId, op })),
  };
}
