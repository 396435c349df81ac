/** Waiting items of several owners, who take turns. */
export interface FairQueue<Item> {
  readonly length: number;
  has(owner: string): boolean;
  add(item: Item): void;
  /** Returns the first item, in the order of turns, of an owner whose turn is not passed over. */
  peek(isPassedOver: (item: Item) => boolean): Item | undefined;
  /** Removes the first item of the owner whose turn it is, and returns it. The next turn is that of another owner. */
  next(): Item | undefined;
  /** Moves the owner behind those that have come meanwhile. Called when its item has been processed. */
  yieldTurn(owner: string): void;
  remove(item: Item): void;
  /** Removes an item. The next turn is that of another owner. */
  take(item: Item): void;
  /** Removes the last item of the owner with the most items, and returns it. Null if this owner would then have as many. */
  takeExcess(owner: string): Item | null;
}

/** Takes items of the owners in turn, so that one with many items does not delay the others. */
export function createFairQueue<Item extends { readonly owner: string }>(): FairQueue<Item> {
  /** Owners in the order of their turns, each with at least one item. */
  const items = new Map<string, Item[]>();
  let length = 0;

  function yieldTurn(owner: string): void {
    const own = items.get(owner);
    if (!own) return;
    items.delete(owner);
    items.set(owner, own);
  }

  function taken(owner: string, own: readonly Item[], item: Item | undefined): Item | undefined {
    length--;
    if (own.length === 0) items.delete(owner);
    return item;
  }

  function remove(item: Item): void {
    const own = items.get(item.owner);
    const at = own?.indexOf(item) ?? -1;
    if (!own || at === -1) return;
    own.splice(at, 1);
    taken(item.owner, own, item);
  }

  function take(item: Item): void {
    remove(item);
    yieldTurn(item.owner);
  }

  return {
    get length() {
      return length;
    },
    add(item) {
      length++;
      const own = items.get(item.owner);
      if (own) own.push(item);
      else items.set(item.owner, [item]);
    },
    has: (owner) => items.has(owner),
    peek(isPassedOver) {
      for (const [first] of items.values()) if (first && !isPassedOver(first)) return first;
      return undefined;
    },
    next() {
      const [[first] = []] = items.values();
      if (first) take(first);
      return first;
    },
    yieldTurn,
    remove,
    take,
    takeExcess(owner) {
      let [largest, most]: [string, Item[]] = ['', []];
      for (const [one, own] of items) if (own.length > most.length) [largest, most] = [one, own];
      if (most.length <= (items.get(owner)?.length ?? 0) + 1) return null;
      return taken(largest, most, most.pop()) ?? null;
    },
  };
}
