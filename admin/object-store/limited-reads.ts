import { type ObjectStore, ObjectStoreError } from './object-store.ts';

/**
 * Returns the store with reads that reject with ObjectStoreError after `limitMs`. Its own attempts take longer than the deadline of a request,
 * whose error would then name the database.
 */
export function limitedReads(store: ObjectStore, limitMs: number): ObjectStore {
  return {
    put: (key, bytes) => store.put(key, bytes),
    remove: (key) => store.remove(key),
    async get(key, range) {
      const read = store.get(key, range);
      // The read goes on after the limit.
      read.catch(() => {});
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const error = new ObjectStoreError(`OBJECT_STORE: no reply within ${limitMs} ms`);
        timer = setTimeout(() => reject(error), limitMs);
      });
      try {
        return await Promise.race([read, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
