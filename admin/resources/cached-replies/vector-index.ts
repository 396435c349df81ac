import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { EntityManager } from '../../db/open-database.ts';
import { latestCreation } from './latest-creation.ts';
import { Partition } from './partition.ts';

interface NearestQuestion {
  readonly workspaceId: string;
  readonly partition: string;
  readonly vector: Float32Array;
  readonly minScore: number;
  readonly nowMs: number;
}

interface Nearest {
  readonly digest: string;
  readonly score: number;
  readonly sealed: Uint8Array;
  readonly ttlMs: number;
}

/** Finds the entry whose vector is most similar. */
export interface VectorIndex {
  nearest(em: EntityManager, question: NearestQuestion): Promise<Nearest | null>;
}

/** Bytes of vectors in memory. The least recently used partitions are dropped, and read again on the next use. */
const bytesMax = 64 * 1024 * 1024;
/** Entries of a partition that are searched: the newest. */
const entriesMax = 5_000;
const rowsAtOnce = 500;
/** Entries that may have been deleted since they were read. */
const deletedMax = 5;

/**
 * Vectors of partitions in the memory of this control plane, read from the database. Each search first reads what was stored since the
 * last one, by any control plane, and the found row is read at the end, so that deleted and expired entries are never served.
 * `open` returns the vector of a row.
 */
export function createVectorIndex(
  open: (row: { digest: string; vector: Uint8Array }, workspaceId: string) => Float32Array,
): VectorIndex {
  const partitions = new LRUCache<string, Partition>({ maxSize: bytesMax, sizeCalculation: ({ bytes }) => bytes + 1_024 });

  return {
    async nearest(em, question) {
      const { workspaceId, vector, minScore, nowMs } = question;
      const name = `${workspaceId}/${question.partition}/${vector.length}`;
      const partition = partitions.get(name) ?? new Partition(vector.length, entriesMax);
      await readNew(em, question, partition);
      // Set again, because it has grown.
      partitions.set(name, partition);
      for (let i = 0; i < deletedMax; i++) {
        const found = await partition.nearest(vector, minScore, nowMs);
        if (found === null) return null;
        const row = await readRow(em, question, found.digest);
        if (row) return { ...found, ...row };
        partition.delete(found.digest);
      }
      return null;
    },
  };

  async function readNew(em: EntityManager, question: NearestQuestion, partition: Partition): Promise<void> {
    type Row = { digest: string; vector: Uint8Array; seq: string | number; expires_at: Date | string };
    const isFirst = partition.lastSeq === 0;
    const rows = await em.execute<Row[]>(
      `select digest, vector, seq, expires_at from cached_replies
        where workspace_id = ? and partition = ? and seq > ? and expires_at > ? order by seq ${isFirst ? 'desc' : 'asc'} limit ?`,
      [question.workspaceId, question.partition, partition.lastSeq, new Date(question.nowMs), entriesMax],
    );
    if (isFirst) rows.reverse();
    for (const [at, row] of rows.entries()) {
      // Opening a vector takes microseconds; other requests go on between groups of them.
      if (at % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
      const vector = open(row, question.workspaceId);
      partition.lastSeq = Math.max(partition.lastSeq, Number(row.seq));
      if (vector.length === partition.dimensions) partition.add(row.digest, vector, new Date(row.expires_at).getTime());
    }
  }
}

async function readRow(em: EntityManager, { workspaceId, partition, nowMs }: NearestQuestion, digest: string) {
  const [row] = await em.execute<{ sealed: Uint8Array; expires_at: Date | string }[]>(
    `select sealed, expires_at from cached_replies
      where workspace_id = ? and digest = ? and partition = ? and expires_at > ? and created_at <= ?`,
    [workspaceId, digest, partition, new Date(nowMs), new Date(latestCreation(nowMs))],
  );
  return row ? { sealed: row.sealed, ttlMs: Math.max(1, new Date(row.expires_at).getTime() - nowMs) } : null;
}
