import { LRUCache } from 'lru-cache';

/** A row of the table. */
export interface StoredReply {
  readonly sealed: Uint8Array;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Rows that were stored or read recently, in the memory of this control plane. */
export interface RecentReplies {
  /**
   * Returns the entry from memory, or else what `read` returns. Entries of an earlier generation are not used: a purge may have deleted
   * their rows. `generation` undefined: memory is not used.
   */
  find(key: string, generation: number | undefined, read: () => Promise<StoredReply | null>): Promise<StoredReply | null>;
  /** Runs `write`, which replaces the row, and keeps the entry if it succeeds. */
  store(key: string, generation: number | undefined, stored: StoredReply, write: () => Promise<unknown>): Promise<void>;
}

interface Entry extends StoredReply {
  readonly generation: number;
}

/** A read of a row in progress. */
interface Read {
  /** True if the row is replaced meanwhile. The read row may be the old one, so it is not cached. */
  overtaken: boolean;
}

/** Estimated memory of an entry beside its bytes. */
const entryBytes = 256;
/** Larger entries are read from the table, so that a few of them do not displace all others. */
const entryBytesMax = 1_048_576;

/** `bytesMax` 0: nothing is kept. */
export function createRecentReplies(bytesMax: number): RecentReplies {
  if (bytesMax === 0) {
    return {
      find: (_key, _generation, read) => read(),
      async store(_key, _generation, _stored, write) {
        await write();
      },
    };
  }
  const memory = new LRUCache<string, Entry>({
    maxSize: bytesMax,
    maxEntrySize: entryBytesMax,
    sizeCalculation: ({ sealed }) => sealed.length + entryBytes,
  });
  const reads = new Map<string, Read>();

  return {
    async find(key, generation, read) {
      if (generation === undefined) return read();
      const entry = memory.get(key);
      if (entry?.generation === generation) return entry;
      const own: Read = { overtaken: false };
      reads.set(key, own);
      try {
        const stored = await read();
        if (stored !== null && !own.overtaken && reads.get(key) === own) keep(key, stored, generation);
        return stored;
      } finally {
        if (reads.get(key) === own) reads.delete(key);
      }
    },
    async store(key, generation, stored, write) {
      overtake(key);
      memory.delete(key);
      await write();
      // A read that began during the write may have returned the old row.
      overtake(key);
      memory.delete(key);
      if (generation !== undefined) keep(key, stored, generation);
    },
  };

  function keep(key: string, { sealed, createdAtMs, expiresAtMs }: StoredReply, generation: number): void {
    // A copy: the bytes may be a part of a larger buffer, such as the body of a request, which would stay in memory.
    memory.set(key, { sealed: Uint8Array.from(sealed), createdAtMs, expiresAtMs, generation });
  }

  function overtake(key: string): void {
    const read = reads.get(key);
    if (read) read.overtaken = true;
  }
}
