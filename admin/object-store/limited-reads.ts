import { within } from '../../core/contract/values/time/within.ts';
import { type ObjectStore, ObjectStoreError } from './object-store.ts';

/**
 * Returns the store with reads that reject with ObjectStoreError after `limitMs`. Its own attempts take longer than the deadline of a request,
 * whose error would then name the database.
 */
export function limitedReads(store: ObjectStore, limitMs: number): ObjectStore {
  return {
    put: (key, bytes) => store.put(key, bytes),
    remove: (key) => store.remove(key),
    get: (key, range) =>
      within(store.get(key, range), limitMs, () => new ObjectStoreError(`OBJECT_STORE: no reply within ${limitMs} ms`)),
  };
}
