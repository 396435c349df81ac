/**
 * Items that are open for a short time, such as requests in flight. A Set or a Map would keep ended ones in memory: it replaces its table after
 * a few additions, and each table refers to the next. Once one of them is in V8's old generation, the items of all later tables get there too
 * (docs/decisions/0650-items-in-flight-are-not-in-sets.md).
 */
export class OpenItems<Item extends object> implements Iterable<Item> {
  readonly #items: (Item | null)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Returns the index with which the item is removed. */
  add(item: Item): number {
    const index = this.#free.pop() ?? this.#items.length;
    this.#items[index] = item;
    return index;
  }

  /** Removes the item that got this index. To be called once per item, because another item may get the index. */
  remove(index: number): void {
    this.#items[index] = null;
    this.#free.push(index);
  }

  /** Items in no particular order. Items that are added meanwhile may be left out. */
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#items) if (item !== null) yield item;
  }
}
