import { LRUCache } from 'lru-cache';

/**
 * Returns a cache of at most `entriesMax` entries that drops the least recently used one. It is bounded by a size of 1 per entry: given
 * `max`, lru-cache allocates and fills all slots at once (3.5 ms for 25,000), given a size it grows with its entries. Reading an entry
 * takes the same time.
 */
export function newEntryCache<K extends {}, V extends {}>(
  entriesMax: number,
  options: Pick<LRUCache.Options<K, V, unknown>, 'disposeAfter'> = {},
): LRUCache<K, V> {
  return new LRUCache<K, V>({ ...options, maxSize: entriesMax, sizeCalculation: () => 1 });
}
