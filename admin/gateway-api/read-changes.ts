import { createHash } from 'node:crypto';
import type { ChangesReply } from '../../core/contract/protocol/internal-api.ts';
import type { EntityManager } from '../db/open-database.ts';
import { type OutboxEvent, outbox } from '../publish/entity.ts';

/** Newest revision that is committed. */
export async function readRevision(em: EntityManager): Promise<number> {
  const [row] = await em.execute<[{ revision: string | number }]>('select revision from change_counter');
  return Number(row.revision);
}

/** Maximum number of changes in one reply. */
const changesMax = 5_000;

/**
 * Returns the changes after a revision, oldest first; `reset` if they cannot be listed without a gap, or if `mark` is not that of the change
 * with this revision: the database has lost that change, for example in a failover to a standby that was behind.
 */
export async function readChanges(em: EntityManager, after: number, mark: string | null): Promise<ChangesReply> {
  // Read before the rows. A change committed between the two reads has a higher revision; the next request returns it again.
  const revision = await readRevision(em);
  const from = Math.min(after, revision);
  const where = { revision: { $gte: from, $lte: revision } };
  const rows = await em.find(outbox, where, { orderBy: { revision: 'asc' }, limit: changesMax + 1 });
  const known = rows[0]?.revision === from ? rows.shift() : undefined;
  const isOther = mark !== null && known !== undefined && markOf(known) !== mark;
  if (after > revision || isOther || (after < revision && rows[0]?.revision !== after + 1)) {
    const newest = await em.findOne(outbox, { revision });
    return { revision, reset: true, changes: [], mark: newest && markOf(newest) };
  }
  const last = rows.at(-1) ?? known;
  return {
    revision,
    reset: false,
    changes: rows.map(({ revision, kind, documentId, op }) => ({ revision, kind, id: documentId, op })),
    mark: last ? markOf(last) : null,
  };
}

/** Two changes with one revision were made at different times. */
function markOf({ createdAt, kind, documentId }: OutboxEvent): string {
  return createHash('sha256').update(`${createdAt.getTime()} ${kind} ${documentId}`).digest('base64url').slice(0, 16);
}
