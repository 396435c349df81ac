import { hash } from 'node:crypto';
import type { RequestRecord } from '../../core/contract/plugin/record.ts';
import { type Grain, grains } from './grains.ts';
import { binOf } from './latency-bins.ts';
import { measureNames, measures } from './measures.ts';

type Value = string | number | null;

/** Sums of one roll-up, or the changes to them. */
interface Sums {
  readonly organisationId: string;
  readonly startsAtMs: number;
  /** In the order of `dimensions`. */
  readonly values: readonly Value[];
  /** The values as JSON, which identifies the roll-up within its organisation and time. */
  readonly name: string;
  firstMs: number;
  lastMs: number;
  /** In the order of `measureNames`. */
  readonly amounts: number[];
  readonly latency: Map<number, number>;
  readonly retries: Map<number, number>;
}

/**
 * Changes to one row of `usage_rollups`: organisation, grain, start, key, first time, last time, dimensions, measures, counts of latencies and
 * counts of retries. Times are in milliseconds. Arrays without names take a third of the time of objects to write and to read. Counts are packed, `bin * 2^32 +
 * count`, in the text form of a PostgreSQL array.
 */
export type RollupChange = readonly Value[];

/** Sums the requests of a batch in memory, so that each roll-up is written once per batch. */
export class RollupBatch {
  readonly #minutes = new Map<string, Sums>();
  readonly #hours = new Map<string, Sums>();
  readonly #users = new Map<string, Sums>();

  /** Adds a request, or takes it out again with `sign` -1. Requests without an organisation are left out: no tenant may read them. */
  add(record: RequestRecord, costNano: number | null, sign: 1 | -1 = 1): void {
    const { organisationId } = record;
    const createdMs = Date.parse(record.createdAt);
    if (organisationId === null || Number.isNaN(createdMs)) return;
    const one = { organisationId, createdMs, record, costNano: costNano ?? 0, sign };
    const { workspaceId, status, apiKeyId, userId, provider, providerSlug, model, configSlug } = record;
    addTo(this.#minutes, grains.minute, [workspaceId, status, null, null, null, null, null, null, null, null, null], one);
    const prompt = [record.promptSlug ?? null, record.promptVersion ?? null];
    const details = [workspaceId, status, apiKeyId, userId, provider, providerSlug, model, configSlug, null, ...prompt];
    addTo(this.#hours, grains.hourDetail, details, one);
    const endUser = record.metadata._user ?? null;
    if (endUser !== null)
      addTo(this.#users, grains.hourUser, [workspaceId, null, null, userId, null, null, null, null, endUser, null, null], one);
  }

  /** Replaces the cost of a request that is counted already. */
  addCost(record: RequestRecord, { from, to }: { readonly from: number | null; readonly to: number | null }): void {
    this.add(record, to);
    this.add(record, from, -1);
  }

  /** Returns the changes to all grains. */
  changes(): RollupChange[] {
    const digests = new Map<string, string>();
    const out: RollupChange[] = [];
    const push = (grain: Grain, rows: Iterable<Sums>) => {
      for (const sums of rows) out.push(toChange(grain, sums, digests));
    };
    push(grains.minute, this.#minutes.values());
    push(grains.hour, coarser(this.#minutes, grains.hour));
    push(grains.hourDetail, this.#hours.values());
    push(grains.dayDetail, coarser(this.#hours, grains.dayDetail));
    push(grains.hourUser, this.#users.values());
    push(grains.dayUser, coarser(this.#users, grains.dayUser));
    return out;
  }
}

interface OneRequest {
  readonly organisationId: string;
  readonly createdMs: number;
  readonly record: RequestRecord;
  readonly costNano: number;
  readonly sign: 1 | -1;
}

function addTo(rows: Map<string, Sums>, { lengthMs }: Grain, values: readonly Value[], one: OneRequest): void {
  const { organisationId, createdMs, record, costNano, sign } = one;
  const name = JSON.stringify(values);
  const sums = sumsOf(rows, lengthMs, { organisationId, values, name, ms: createdMs });
  if (sign === 1) widen(sums, createdMs, createdMs);
  for (let at = 0; at < measures.length; at++) {
    sums.amounts[at] = (sums.amounts[at] ?? 0) + sign * (measures[at]?.of(record, costNano) ?? 0);
  }
  count(sums.latency, binOf(record.durationMs), sign);
  if (record.retryAttemptCount > 0 && record.outcome === 'success') count(sums.retries, record.retryAttemptCount, sign);
}

/** Sums finer roll-ups into those of a longer grain. */
function coarser(rows: ReadonlyMap<string, Sums>, { lengthMs }: Grain): Iterable<Sums> {
  const out = new Map<string, Sums>();
  for (const fine of rows.values()) {
    const sums = sumsOf(out, lengthMs, { ...fine, ms: fine.startsAtMs });
    widen(sums, fine.firstMs, fine.lastMs);
    fine.amounts.forEach((amount, at) => {
      sums.amounts[at] = (sums.amounts[at] ?? 0) + amount;
    });
    for (const [bin, number] of fine.latency) count(sums.latency, bin, number);
    for (const [retries, number] of fine.retries) count(sums.retries, retries, number);
  }
  return out.values();
}

function sumsOf(
  rows: Map<string, Sums>,
  lengthMs: number,
  { organisationId, values, name, ms }: Pick<Sums, 'organisationId' | 'values' | 'name'> & { readonly ms: number },
): Sums {
  const startsAtMs = Math.floor(ms / lengthMs) * lengthMs;
  const id = `${organisationId}${startsAtMs}${name}`;
  let sums = rows.get(id);
  if (!sums) {
    const amounts = measureNames.map(() => 0);
    const none = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
    sums = { organisationId, startsAtMs, values, name, ...none, amounts, latency: new Map(), retries: new Map() };
    rows.set(id, sums);
  }
  return sums;
}

function widen(sums: Sums, firstMs: number, lastMs: number): void {
  if (firstMs < sums.firstMs) sums.firstMs = firstMs;
  if (lastMs > sums.lastMs) sums.lastMs = lastMs;
}

function count(counts: Map<number, number>, bin: number, change: number): void {
  counts.set(bin, (counts.get(bin) ?? 0) + change);
}

function toChange(grain: Grain, sums: Sums, digests: Map<string, string>): RollupChange {
  const { organisationId, startsAtMs, values, name, firstMs, lastMs, amounts, latency, retries } = sums;
  let key = digests.get(name);
  if (key === undefined) {
    key = hash('sha256', name).slice(0, 32);
    digests.set(name, key);
  }
  // Changes without new requests are to rows that exist, whose times stay.
  const [first, last] = Number.isFinite(firstMs) ? [firstMs, lastMs] : [null, null];
  const change: Value[] = [organisationId, grain.name, startsAtMs, key, first, last];
  return change.concat(values, amounts, packed(latency), packed(retries));
}

function packed(counts: ReadonlyMap<number, number>): string {
  let text = '';
  for (const [bin, number] of counts) if (number !== 0) text += `${text === '' ? '' : ','}${bin * 4_294_967_296 + number}`;
  return `{${text}}`;
}
