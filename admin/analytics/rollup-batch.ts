import type { RequestRecord } from '../../core/contract/plugin/record.ts';
import { type DimensionSource, dimensionSources, dimensions } from './dimensions.ts';
import { type Grain, grainPairs } from './grains.ts';
import { binOf } from './latency-bins.ts';
import { type Measure, measures } from './measures.ts';

/** Counts are packed: `bin * binFactor + count`. */
export const binFactor = 4_294_967_296;

type Value = string | number | null;

/** Changes to one row of `usage_rollups`, and to the row of a longer grain that has the same changes. */
export interface RollupChange {
  readonly organisationId: string;
  readonly grain: Grain;
  readonly startsAtMs: number;
  /** Null if the row of the longer grain is a change of its own. */
  coarser: Grain | null;
  /** In the order of `dimensions`. */
  readonly values: readonly Value[];
  /** The values as JSON, which identifies the row within its organisation, grain and time. */
  readonly name: string;
  /** Infinite if there are no new requests. */
  firstMs: number;
  lastMs: number;
  /** In the order of `measureNames`. */
  readonly amounts: number[];
  /** Requests by bin of latency, and successful requests by number of retries: packed counts, which may repeat a bin. */
  readonly latency: number[];
  readonly retries: number[];
}

interface Family {
  readonly finer: Grain;
  readonly coarser: Grain;
  readonly keeps: readonly boolean[];
  /** Indices of the dimensions that are kept. */
  readonly kept: readonly number[];
  /** Index of a dimension without which requests are left out; −1: none. */
  readonly required: number;
}

const families = grainPairs.map(
  ([finer, coarser]): Family => ({
    finer,
    coarser,
    keeps: dimensions.map((name) => finer.keeps.includes(name)),
    kept: finer.keeps.map((name) => dimensions.indexOf(name)),
    required: finer.keeps.includes('end_user') ? dimensions.indexOf('end_user') : -1,
  }),
);

const sources = dimensions.map((name) => dimensionSources[name]);

/** Sums the requests of a batch in memory, so that each roll-up is written once per batch. */
export class RollupBatch {
  readonly #trees: readonly Tree[] = families.map(() => new Map());
  readonly #changes: RollupChange[][] = families.map(() => []);
  /** Values and amounts of the request that is being added. */
  readonly #values: Value[] = sources.map(() => null);
  readonly #amounts: number[] = measures.map(() => 0);

  /** Adds a request, or takes it out again with `sign` -1. Requests without an organisation are left out: no tenant may read them. */
  add(record: RequestRecord, costNano: number | null, sign: 1 | -1 = 1): void {
    const { organisationId, durationMs, retryAttemptCount } = record;
    const createdMs = Date.parse(record.createdAt);
    if (organisationId === null || Number.isNaN(createdMs)) return;
    for (let at = 0; at < sources.length; at++) this.#values[at] = (sources[at] as DimensionSource).of(record);
    for (let at = 0; at < measures.length; at++) this.#amounts[at] = sign * (measures[at] as Measure).of(record, costNano ?? 0);
    const bin = binOf(durationMs);
    const retries = record.outcome === 'success' ? retryAttemptCount : 0;
    for (let at = 0; at < families.length; at++) {
      const { finer, required } = families[at] as Family;
      if (required !== -1 && this.#values[required] === null) continue;
      const sums = this.#sumsOf(at, organisationId, createdMs);
      if (sign === 1) widen(sums, createdMs, createdMs);
      addAll(sums.amounts, this.#amounts);
      if (!finer.hasCounts) continue;
      sums.latency.push(bin * binFactor + sign);
      if (retries > 0) sums.retries.push(retries * binFactor + sign);
    }
  }

  /** Finds the sums for the values of the request. A tree of maps costs a quarter of a map by the text of the values. */
  #sumsOf(family: number, organisationId: string, createdMs: number): RollupChange {
    const { finer, kept, keeps } = families[family] as Family;
    const startsAtMs = startOf(createdMs, finer);
    let tree = branchOf(branchOf(this.#trees[family] as Tree, organisationId), startsAtMs);
    const last = kept.length - 1;
    for (let at = 0; at < last; at++) tree = branchOf(tree, this.#values[kept[at] as number] as Value);
    const leaf = this.#values[kept[last] as number] as Value;
    const known = tree.get(leaf);
    if (known) return known as RollupChange;
    const values = this.#values.map((value, at) => (keeps[at] ? value : null));
    const sums = emptyChange(organisationId, finer, startsAtMs, { values, name: JSON.stringify(values) });
    tree.set(leaf, sums);
    this.#changes[family]?.push(sums);
    return sums;
  }

  /** Replaces the cost of a request that is counted already. */
  addCost(record: RequestRecord, { from, to }: { readonly from: number | null; readonly to: number | null }): void {
    this.add(record, to);
    this.add(record, from, -1);
  }

  /** Returns the changes to all grains. */
  changes(): RollupChange[] {
    return families.flatMap(({ coarser }, at) => {
      const finer = this.#changes[at] ?? [];
      return [...finer, ...coarserOf(finer, coarser)];
    });
  }
}

/**
 * Sums the changes of a finer grain into those of a longer one. A row that has the same changes as its only finer row is marked there instead:
 * nearly all batches are of one hour.
 */
function coarserOf(finer: readonly RollupChange[], grain: Grain): RollupChange[] {
  if (finer.every(({ startsAtMs }) => startsAtMs === finer[0]?.startsAtMs)) {
    for (const one of finer) one.coarser = grain;
    return [];
  }
  const alone = new Map<string, RollupChange>();
  const sums = new Map<string, RollupChange>();
  for (const one of finer) {
    const id = idOf(one.organisationId, grain, one.startsAtMs, one.name);
    const other = alone.get(id);
    if (!other) {
      alone.set(id, one);
      one.coarser = grain;
      continue;
    }
    if (other.coarser) {
      other.coarser = null;
      addChange(sums, id, grain, other);
    }
    addChange(sums, id, grain, one);
  }
  return [...sums.values()];
}

function addChange(rows: Map<string, RollupChange>, id: string, grain: Grain, one: RollupChange): void {
  const sums = rows.get(id) ?? emptyChange(one.organisationId, grain, one.startsAtMs, one);
  rows.set(id, sums);
  widen(sums, one.firstMs, one.lastMs);
  addAll(sums.amounts, one.amounts);
  for (const counted of one.latency) sums.latency.push(counted);
  for (const counted of one.retries) sums.retries.push(counted);
}

type Named = Pick<RollupChange, 'values' | 'name'>;

/** Maps values of the first dimension to trees of the others, and values of the last to sums. */
type Tree = Map<Value, unknown>;

function branchOf(tree: Tree, value: Value): Tree {
  const known = tree.get(value);
  if (known) return known as Tree;
  const branch: Tree = new Map();
  tree.set(value, branch);
  return branch;
}

function emptyChange(organisationId: string, grain: Grain, ms: number, { values, name }: Named): RollupChange {
  const startsAtMs = startOf(ms, grain);
  const none = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY, coarser: null };
  const amounts = measures.map(() => 0);
  return { organisationId, grain, startsAtMs, values, name, ...none, amounts, latency: [], retries: [] };
}

/** Returns the start of the bucket of a time. */
export function startOf(ms: number, { lengthMs }: Grain): number {
  return Math.floor(ms / lengthMs) * lengthMs;
}

function idOf(organisationId: string, grain: Grain, ms: number, name: string): string {
  return `${organisationId}${startOf(ms, grain)}${name}`;
}

function widen(sums: RollupChange, firstMs: number, lastMs: number): void {
  if (firstMs < sums.firstMs) sums.firstMs = firstMs;
  if (lastMs > sums.lastMs) sums.lastMs = lastMs;
}

function addAll(to: number[], amounts: readonly number[]): void {
  for (let at = 0; at < amounts.length; at++) to[at] = (to[at] ?? 0) + (amounts[at] ?? 0);
}
