import { isCounted, type RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { windowStartMs } from '../../core/contract/protocol/limits/limit-window.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import { type DimensionSource, dimensionSources, dimensions } from './dimensions.ts';
import { dayGrains, type Grain, liveGrains, quarterGrains, quarterMs, weekGrains, weekMs } from './grains.ts';
import { binOf } from './latency-bins.ts';
import { type Measure, measures } from './measures.ts';
import { usageByCall } from './usage-by-call.ts';

/** Counts are packed: `bin * binFactor + count`. */
export const binFactor = 4_294_967_296;

type Value = string | number | null;

/** Changes to one row of `usage_rollups`. */
export interface RollupChange {
  readonly organisationId: string;
  readonly grain: Grain;
  readonly startsAtMs: number;
  /** In the order of `dimensions`. */
  readonly values: readonly Value[];
  /** The values as JSON, which identifies the row within its organisation, grain and time. */
  readonly name: string;
  /** Infinite if there are no new requests. */
  firstMs: number;
  lastMs: number;
  /** In the order of `measures`. */
  readonly amounts: number[];
  /** Requests by bin of latency, and successful requests by number of retries: packed counts, which may repeat a bin. */
  readonly latency: number[];
  readonly retries: number[];
}

/** A grain, prepared for sums. */
interface Family {
  readonly grain: Grain;
  readonly keeps: readonly boolean[];
  /** Indices of the dimensions that are kept. */
  readonly kept: readonly number[];
  /** Index of a dimension that requests must have to be counted; −1: every request is counted. */
  readonly required: number;
}

const familyOf = (grain: Grain): Family => ({
  grain,
  keeps: dimensions.map((name) => grain.keeps.includes(name)),
  kept: grain.keeps.map((name) => dimensions.indexOf(name)),
  required: grain.keeps.includes('end_user') ? dimensions.indexOf('end_user') : -1,
});

const liveFamilies = liveGrains.map(familyOf);
/** Families for requests of quarters of days, of days, and of weeks that have ended: their sums may have been written already. */
const familiesOfQuarters = [...liveFamilies, ...quarterGrains.map(familyOf)];
const familiesOfDays = [...familiesOfQuarters, ...dayGrains.map(familyOf)];
const familiesOfWeeks = [...familiesOfDays, ...weekGrains.map(familyOf)];

const sources = dimensions.map((name) => dimensionSources[name]);

/** Sums the requests of a batch in memory, so that each roll-up is written once per batch. */
export class RollupBatch {
  readonly #nowMs: number;
  readonly #trees: readonly Tree[] = familiesOfWeeks.map(() => new Map());
  readonly #changes: RollupChange[] = [];
  readonly #late = new Set<string>();
  /** Values and amounts of the request that is being added. */
  readonly #values: Value[] = sources.map(() => null);
  readonly #amounts: number[] = measures.map(() => 0);

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  get changes(): readonly RollupChange[] {
    return this.#changes;
  }

  /** Organisations with requests of quarters of days, days or weeks that have ended. */
  get late(): ReadonlySet<string> {
    return this.#late;
  }

  /**
   * Adds a request with its cost and the cost that the cache saved, or subtracts it with `sign` -1. Requests without an organisation are
   * not counted, because no tenant may read them.
   */
  add(record: RequestRecord, costNano: number | null, savedNano = 0, sign: 1 | -1 = 1): void {
    const { organisationId, durationMs, retryAttemptCount } = record;
    const createdMs = Date.parse(record.createdAt);
    if (organisationId === null || Number.isNaN(createdMs) || !isCounted(record)) return;
    const retries = record.outcome === 'success' ? retryAttemptCount : 0;
    const counts = {
      latency: binOf(durationMs) * binFactor + sign,
      retries: retries > 0 ? retries * binFactor + sign : null,
    };
    const families = this.#familiesOf(createdMs);
    if (families !== liveFamilies) this.#late.add(organisationId);
    if (record.discarded === undefined) {
      this.#read(record, costNano ?? 0, savedNano, sign);
      return this.#count(families, organisationId, createdMs, sign, counts);
    }
    const { own, others } = usageByCall(record, costNano ?? 0);
    this.#read(own.record, own.costNano, savedNano, sign);
    this.#count(families, organisationId, createdMs, sign, counts);
    for (const call of others) {
      this.#read(call.record, call.costNano, 0, sign);
      for (let at = 0; at < measures.length; at++) if ((measures[at] as Measure).callSql === undefined) this.#amounts[at] = 0;
      this.#count(families, organisationId, createdMs, sign, null);
    }
  }

  /** Sets the values and amounts of one request or call. */
  #read(record: RequestRecord, costNano: number, savedNano: number, sign: 1 | -1): void {
    for (let at = 0; at < sources.length; at++) this.#values[at] = (sources[at] as DimensionSource).of(record);
    for (let at = 0; at < measures.length; at++)
      this.#amounts[at] = sign * (measures[at] as Measure).of(record, costNano, savedNano);
  }

  /** Adds the values and amounts that were read to the sums of all grains. `counts`: packed counts of the request; null for a further call of it. */
  #count(
    families: readonly Family[],
    organisationId: string,
    createdMs: number,
    sign: 1 | -1,
    counts: { readonly latency: number; readonly retries: number | null } | null,
  ): void {
    for (let at = 0; at < families.length; at++) {
      const family = families[at] as Family;
      if (family.required !== -1 && this.#values[family.required] === null) continue;
      const sums = this.#sumsOf(this.#trees[at] as Tree, family, organisationId, createdMs);
      if (sign === 1) widen(sums, createdMs);
      for (let one = 0; one < this.#amounts.length; one++)
        sums.amounts[one] = (sums.amounts[one] as number) + (this.#amounts[one] as number);
      if (!family.grain.hasCounts || counts === null) continue;
      sums.latency.push(counts.latency);
      if (counts.retries !== null) sums.retries.push(counts.retries);
    }
  }

  #familiesOf(createdMs: number): readonly Family[] {
    if (windowStartMs(createdMs, quarterMs) + quarterMs > this.#nowMs) return liveFamilies;
    if (windowStartMs(createdMs, dayMs) + dayMs > this.#nowMs) return familiesOfQuarters;
    return windowStartMs(createdMs, weekMs) + weekMs > this.#nowMs ? familiesOfDays : familiesOfWeeks;
  }

  /**
   * Finds the sums for the values of the request. A tree of maps takes a quarter of the time of one map whose keys are the joined values.
   */
  #sumsOf(root: Tree, { grain, kept, keeps }: Family, organisationId: string, createdMs: number): RollupChange {
    const startsAtMs = windowStartMs(createdMs, grain.lengthMs);
    let tree = branchOf(branchOf(root, organisationId), startsAtMs);
    const last = kept.length - 1;
    for (let at = 0; at < last; at++) tree = branchOf(tree, this.#values[kept[at] as number] as Value);
    const leaf = this.#values[kept[last] as number] as Value;
    const known = tree.get(leaf);
    if (known) return known as RollupChange;
    const values = this.#values.map((value, at) => (keeps[at] ? value : null));
    const sums: RollupChange = {
      ...{ organisationId, grain, startsAtMs, values, name: JSON.stringify(values) },
      ...{ firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY },
      ...{ amounts: measures.map(() => 0), latency: [], retries: [] },
    };
    tree.set(leaf, sums);
    this.#changes.push(sums);
    return sums;
  }
}

/** Maps values of the first dimension to trees of the others, and values of the last to sums. */
type Tree = Map<Value, unknown>;

function branchOf(tree: Tree, value: Value): Tree {
  const known = tree.get(value);
  if (known) return known as Tree;
  const branch: Tree = new Map();
  tree.set(value, branch);
  return branch;
}

function widen(sums: RollupChange, ms: number): void {
  if (ms < sums.firstMs) sums.firstMs = ms;
  if (ms > sums.lastMs) sums.lastMs = ms;
}
