import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '../db/open-database.ts';
import { plainRows } from '../db/plain-rows.ts';
import type { Anchor } from './anchors.ts';
import { type AuditEntry, auditChains, auditEntries } from './entity.ts';
import { chainStart, hashEntry } from './hash-entry.ts';

/** Result of the check of one organisation's trail. */
export interface Verdict {
  readonly organisationId: string;
  /** Number of entries from the first one on that are unchanged. */
  readonly intact: number;
  /** First entry that is invalid or missing; null if the chain is valid. */
  readonly error: ChainError | null;
}

interface ChainError {
  /** Position in the chain. Null for a row outside it. */
  readonly seq: number | null;
  /** Id of the row, if there is one. */
  readonly rowId: string | null;
  readonly what: string;
}

/** Number of rows read at a time. */
const batchSize = 1_000;

/**
 * Walks the chain of one organisation from its first entry in one database snapshot, so concurrent writers do no harm. `anchors`
 * are heads of this chain stored outside the database. They reveal entries cut off the end, and a chain rebuilt with a stolen
 * key.
 */
export async function verifyChain(
  em: EntityManager,
  auditKey: Uint8Array,
  organisationId: string,
  anchors: readonly Anchor[],
): Promise<Verdict> {
  const anchored = new Map(anchors.map((one) => [one.seq, one.hash]));
  return em.transactional(
    async (tx) => {
      let seq = 0;
      let hash = chainStart;
      let firstAt: Date | null = null;
      const verdict = (error: ChainError | null): Verdict => ({ organisationId, intact: seq, error });
      for (;;) {
        const following = tx.createQueryBuilder(auditEntries).where({ organisationId, seq: { $gt: seq } });
        const rows = await plainRows<AuditEntry>(following.orderBy({ seq: 'asc' }).limit(batchSize));
        for (const row of rows) {
          const what = errorOf(row, seq + 1, hash, auditKey);
          if (what !== null)
            return verdict({
              seq: what.missing ? seq + 1 : (row.seq ?? null),
              rowId: what.missing ? null : row.id,
              what: what.text,
            });
          const expected = anchored.get(seq + 1);
          if (expected !== undefined && expected !== row.hash) {
            return verdict({ seq: seq + 1, rowId: row.id, what: 'it is not the entry that was anchored' });
          }
          seq += 1;
          hash = row.hash ?? '';
          firstAt ??= row.createdAt;
        }
        if (rows.length < batchSize) break;
      }
      return verdict(await errorOfEnd(tx, organisationId, seq, hash, firstAt, anchors));
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, clear: true },
  );
}

function errorOf(
  row: AuditEntry,
  seq: number,
  previousHash: string,
  auditKey: Uint8Array,
): { text: string; missing: boolean } | null {
  if (row.seq !== seq) return { text: 'it is missing', missing: true };
  if (row.hash !== hashEntry(auditKey, { ...row, seq, previousHash: row.previousHash ?? '' })) {
    return { text: 'it was changed', missing: false };
  }
  return row.previousHash === previousHash ? null : { text: 'it does not follow the entry before it', missing: false };
}

async function errorOfEnd(
  tx: EntityManager,
  organisationId: string,
  seq: number,
  hash: string,
  firstAt: Date | null,
  anchors: readonly Anchor[],
): Promise<ChainError | null> {
  const head = await tx.findOne(auditChains, { organisationId });
  const last = Math.max(head?.seq ?? 0, ...anchors.map((one) => one.seq));
  if (last > seq) return { seq: seq + 1, rowId: null, what: 'it is missing, and so is everything after it' };
  if ((head?.seq ?? 0) !== seq || (head?.hash ?? chainStart) !== hash) {
    return { seq, rowId: null, what: 'it is not what the head of the chain says' };
  }
  if (firstAt === null) return null;
  // Entries of versions before the chain stay outside it. Other entries must not.
  const outside = await tx.findOne(auditEntries, { organisationId, seq: null, createdAt: { $gt: firstAt } });
  return outside ? { seq: null, rowId: outside.id, what: 'it was not written through the chain' } : null;
}
