import type { PolicyCondition } from '../../core/contract/protocol/limits/policies.ts';
import { isPrefix } from './policy-matcher.ts';
import { type KeyReader, metadataNameOf, type PolicyCall, readerOf } from './policy-values.ts';

/** The part of a policy that the index needs. */
interface Indexed {
  readonly conditions: readonly PolicyCondition[];
  readonly groupBy: readonly string[];
}

/** Policies by the value of one key. */
interface Shelf<T> {
  readonly reader: KeyReader;
  readonly byValue: Map<string, T[]>;
  /** Policies that need any value of a metadata key. */
  readonly any: T[];
}

/** A slot in the index: policies that can only match calls with this value of this key. */
interface Slot {
  readonly key: string;
  /** Null: any value. */
  readonly values: readonly string[] | null;
}

/**
 * Finds the policies that may match a call without a look at the others. Each policy is filed under the condition that the fewest
 * other policies share, so the work for a call depends on the policies near it, not on all policies of the workspace.
 */
export class PolicyIndex<T> {
  readonly #shelves = new Map<string, Shelf<T>>();
  readonly #byMetadata = new Map<string, Shelf<T>>();
  /** Policies without a condition that narrows them down. */
  readonly #always: T[] = [];

  constructor(policies: readonly (readonly [Indexed, T])[]) {
    const slots = policies.map(([policy]) => slotsOf(policy));
    const sizes = new Sizes();
    for (const ofPolicy of slots) for (const slot of ofPolicy) sizes.add(slot);
    policies.forEach(([, item], at) => {
      let best: Slot | null = null;
      let least = Number.POSITIVE_INFINITY;
      for (const slot of slots[at] ?? []) {
        const size = sizes.of(slot);
        if (size < least) [best, least] = [slot, size];
      }
      this.#file(best, item);
    });
  }

  /** Calls `visit` with each policy that may match. */
  visit(call: PolicyCall, visit: (item: T) => void): void {
    for (const item of this.#always) visit(item);
    for (const shelf of this.#shelves.values()) this.#visitShelf(shelf, call, visit);
    if (this.#byMetadata.size === 0) return;
    for (const name in call.ctx.metadata) {
      const shelf = this.#byMetadata.get(name);
      if (shelf) this.#visitShelf(shelf, call, visit);
    }
  }

  #visitShelf({ reader, byValue, any }: Shelf<T>, call: PolicyCall, visit: (item: T) => void): void {
    for (const item of any) visit(item);
    const value = reader.read(call);
    const found = value === null ? undefined : byValue.get(value);
    if (found) for (const item of found) visit(item);
    const alias = reader.alias?.(call) ?? null;
    const further = alias === null ? undefined : byValue.get(alias);
    // A policy may list both names of a value.
    if (further) for (const item of further) if (!found?.includes(item)) visit(item);
  }

  #file(slot: Slot | null, item: T): void {
    if (slot === null) {
      this.#always.push(item);
      return;
    }
    const shelf = this.#shelfOf(slot.key);
    if (slot.values === null) shelf.any.push(item);
    else {
      for (const value of new Set(slot.values)) {
        const filed = shelf.byValue.get(value);
        if (filed) filed.push(item);
        else shelf.byValue.set(value, [item]);
      }
    }
  }

  #shelfOf(key: string): Shelf<T> {
    const name = metadataNameOf(key);
    const shelves = name === null ? this.#shelves : this.#byMetadata;
    let shelf = shelves.get(name ?? key);
    if (!shelf) {
      shelf = { reader: readerOf(key), byValue: new Map(), any: [] };
      shelves.set(name ?? key, shelf);
    }
    return shelf;
  }
}

/** The slots where a policy can be filed. */
function slotsOf({ conditions, groupBy }: Indexed): Slot[] {
  const slots: Slot[] = [];
  for (const { key, value } of conditions) {
    const slot = value === '*' ? null : slotOf(key, [value].flat());
    if (slot) slots.push(slot);
    else if (metadataNameOf(key) !== null) slots.push({ key, values: null });
  }
  for (const key of groupBy) if (metadataNameOf(key) !== null) slots.push({ key, values: null });
  return slots;
}

/** Returns the slot of values; null if they are patterns that no exact value stands for. */
function slotOf(key: string, values: readonly string[]): Slot | null {
  if (key !== 'model' || !values.some(isPrefix)) return { key, values };
  // `@openai/*` can only match calls of the provider type `openai`.
  const providers = values.map((value) => /^@([^/]+)\//.exec(value)?.[1]);
  return providers.every((provider) => provider !== undefined) ? { key: 'provider', values: providers } : null;
}

/** Counts the policies that could be filed under each value. */
class Sizes {
  readonly #byKey = new Map<string, Map<string | null, number>>();

  add({ key, values }: Slot): void {
    let counts = this.#byKey.get(key);
    if (!counts) {
      counts = new Map();
      this.#byKey.set(key, counts);
    }
    for (const value of values ?? [null]) counts.set(value, (counts.get(value) ?? 0) + 1);
  }

  /** Returns the largest number of policies that one of the values of a slot finds. */
  of({ key, values }: Slot): number {
    const counts = this.#byKey.get(key);
    let most = 0;
    for (const value of values ?? [null]) most = Math.max(most, counts?.get(value) ?? 0);
    return most;
  }
}
