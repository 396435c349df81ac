const deletedMax = 1_024;

/**
 * Entries by key that are open for a short time, such as holds of calls in flight: a Map that is replaced by a copy after so many deletions.
 * For the reason see `OpenItems`, which costs less where no key is needed.
 */
export class OpenEntries<Key, Value> {
  #entries = new Map<Key, Value>();
  #deleted = 0;

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
  }

  /** Returns false if there is no such entry. */
  delete(key: Key): boolean {
    if (!this.#entries.delete(key)) return false;
    if (++this.#deleted >= Math.max(deletedMax, this.#entries.size)) {
      this.#deleted = 0;
      this.#entries = new Map(this.#entries);
    }
    return true;
  }

  /** Values in the order in which their keys were set. Entries must not change meanwhile. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }
}
