import type { RequestRecord } from '../../core/contract/plugin/record.ts';
import { dimensionSources, dimensions } from './dimensions.ts';
import { type Grain, grainPairs } from './grains.ts';
import { binOf } from './latency-bins.ts';
import { measures } from './measures.ts';

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
  /** Requests by bin of latency, and successful requests by number of retries. */
  readonly latency: Map<number, number>;
  readonly retries: Map<number, number>;
}

interface Family {
  readonly finer: Grain;
  readonly coarser: Grain;
  readonly keeps: readonly boolean[];
  /** Index of a dimension without which requests are left out; −1: none. */
  readonly required: number;
}

const families = grainPairs.map(
  ([finer, coarser]): Family => ({
    finer,
    coarser,
    keeps: dimensions.map((name) => finer.keeps.includes(name)),
    required: finer.keeps.includes('end_user') ? dimensions.indexOf('end_user') : -1,
  }),
);

const sources = dimensions.map((name) => dimensionSources[name]);

/** Sums the requests of a batch in memory, so that each roll-up is written once per batch. */
export class RollupBatch {
  readonly #sums = families.map(() => new Map<string, RollupChange>());

  /** Adds a request, or takes it out again with `sign` -1. Requests without an organisation are left out: no tenant may read them. */
  add(record: RequestRecord, costNano: number | null, sign: 1 | -1 = 1): void {
    const { organisationId, durationMs, retryAttemptCount } = record;
    const createdMs = Date.parse(record.createdAt);
    if (organisationId === null || Number.isNaN(createdMs)) return;
    const all = sources.map((source) => source.of(record));
    const amounts = measures.map((measure) => sign * measure.of(record, costNano ?? 0));
    const bin = binOf(durationMs);
    const retries = record.outcome === 'success' ? retryAttemptCount : 0;
    families.forEach(({ finer, keeps, required }, at) => {
      if (required !== -1 && all[required] === null) return;
      const values = all.map((value, index) => (keeps[index] ? value : null));
      const sums = sumsOf(this.#sums[at] as Map<string, RollupChange>, organisationId, finer, createdMs, {
        values,
        name: JSON.stringify(values),
      });
      if (sign === 1) widen(sums, createdMs, createdMs);
      addAll(sums.amounts, amounts);
      if (!finer.hasCounts) return;
      count(sums.latency, bin, sign);
      if (retries > 0) count(sums.retries, retries, sign);
    });
  }

  /** Replaces the cost of a request that is counted already. */
  addCost(record: RequestRecord, { from, to }: { readonly from: number | null; readonly to: number | null }): void {
    this.add(record, to);
    this.add(record, from, -1);
  }

  /** Returns the changes to all grains. */
  changes(): RollupChange[] {
    return families.flatMap(({ coarser }, at) => {
      const finer = [...(this.#sums[at]?.values() ?? [])];
      return [...finer, ...coarserOf(finer, coarser)];
    });
  }
}

/**
 * Sums the changes of a finer grain into those of a longer one. A row that has the same changes as its only finer row is marked there instead:
 * nearly all batches are of one hour.
 */
function coarserOf(finer: readonly RollupChange[], grain: Grain): RollupChange[] {
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
  for (const [bin, number] of one.latency) count(sums.latency, bin, number);
  for (const [retries, number] of one.retries) count(sums.retries, retries, number);
}

type Named = Pick<RollupChange, 'values' | 'name'>;

function sumsOf(rows: Map<string, RollupChange>, organisationId: string, grain: Grain, ms: number, named: Named): RollupChange {
  const id = idOf(organisationId, grain, ms, named.name);
  let sums = rows.get(id);
  if (!sums) {
    sums = emptyChange(organisationId, grain, ms, named);
    rows.set(id, sums);
  }
  return sums;
}

function emptyChange(organisationId: string, grain: Grain, ms: number, { values, name }: Named): RollupChange {
  const startsAtMs = startOf(ms, grain);
  const none = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY, coarser: null };
  const amounts = measures.map(() => 0);
  return { organisationId, grain, startsAtMs, values, name, ...none, amounts, latency: new Map(), retries: new Map() };
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

function count(counts: Map<number, number>, bin: number, change: number): void {
  counts.set(bin, (counts.get(bin) ?? 0) + change);
}
