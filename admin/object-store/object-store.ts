/** Stores objects by key. Keys consist of `A-Z`, `a-z`, `0-9`, `-`, `_`, `.` and `/`. Every method rejects with ObjectStoreError. */
export interface ObjectStore {
  /** Stores the whole object, or nothing of it. Replaces an object of the same key. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the object, or a part of it; null if there is none. */
  get(key: string, range?: ByteRange): Promise<Uint8Array | null>;
  /** Resolves also if there is no such object. */
  remove(key: string): Promise<void>;
}

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** The object store did not reply, or rejected a request. The message contains no secret. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
}
