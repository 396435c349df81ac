import { isCounted, type RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { windowStartMs } from '../../core/contract/protocol/limits/limit-window.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import { type DimensionSource, dimensionSources, dimensions } from './dimensions.ts';
import { dayGrains, type Grain, liveGrains, quarterGrains, quarterMs, weekGrains, weekMs } from './grains.ts';
import { binOf } from './latency-bins.ts';
import { type Measure, measures } from './measures.ts';
import { nameOf, Prefix, type RollupName, type Step, stepsTo, type Value } from './rollup-names.ts';
import { usageByCall } from './usage-by-call.ts';

/** Counts are packed: `bin * binFactor + count`. */
export const binFactor = 4_294_967_296;

/** A request with its cost and the cost that the cache saved, in nano-USD. */
export interface SummedRequest {
  readonly record: RequestRecord;
  readonly cost: number | null;
  readonly saved?: number;
  /** −1: the request is subtracted. */
  readonly sign?: 1 | -1;
}

/** Organisation, grain and time of rows. */
interface Span {
  readonly index: number;
  readonly organisationId: string;
  readonly grain: Grain;
  readonly startsAtMs: number;
}

/** Changes to one row of `usage_rollups`. */
export interface RollupChange {
  readonly span: Span;
  readonly name: RollupName;
  /** Index of another change with the same name. −1: there is none. */
  readonly other: number;
  /** Times of the first and last new request, in milliseconds after the start of the row. −1: there are no new requests. */
  first: number;
  last: number;
  /** In the order of `measures`. */
  readonly amounts: number[];
  /** Requests by bin of latency, and successful requests by number of retries: packed counts, which may repeat a bin. */
  latency: number[] | null;
  retries: number[] | null;
}

export interface RollupSums {
  readonly changes: readonly RollupChange[];
  readonly spans: readonly Span[];
  /** Organisations with requests of quarters of days, days or weeks that have ended. */
  readonly late: ReadonlySet<string>;
}

/** Every grain, and how many of them a request is added to: those of quarters, days and weeks that have ended may have been written already. */
const counted = [...liveGrains, ...quarterGrains, ...dayGrains, ...weekGrains];
const withQuarters = liveGrains.length + quarterGrains.length;
const withDays = withQuarters + dayGrains.length;

const steps = stepsTo(counted);
const sources: readonly DimensionSource[] = dimensions.map((name) => dimensionSources[name]);

/** Prefixes by organisation. Most batches write rows of the same names, so names are kept: a digest takes a microsecond. */
let prefixes = new Map<string, Prefix>();
let prefixCount = 0;
/** Names contain what callers send, so there is a limit. A prefix and its name take 650 bytes. */
const prefixesMax = 10_000;
let lastBatch = 0;

/**
 * Sums the requests of a batch in memory, so that each roll-up is written once per batch. Requests without an organisation are not counted,
 * because no tenant may read them.
 */
export function sumRequests(requests: readonly SummedRequest[], nowMs: number): RollupSums {
  if (prefixCount > prefixesMax) {
    prefixes = new Map();
    prefixCount = 0;
  }
  const sums = new Sums(nowMs);
  for (const request of requests) sums.add(request);
  return sums;
}

/** Sums of one batch. Only one may be in use at a time, because prefixes hold the indices of its changes. */
class Sums implements RollupSums {
  readonly changes: RollupChange[] = [];
  readonly spans: Span[] = [];
  readonly late = new Set<string>();
  readonly #batch = ++lastBatch;
  readonly #nowMs: number;
  readonly #lastSpans: (Span | undefined)[] = counted.map(() => undefined);
  readonly #knownSpans = counted.map(() => new Map<string, Map<number, Span>>());
  /** Values and amounts of the request that is being added, and the prefixes of its values, after that of its organisation. */
  readonly #values: Value[] = sources.map(() => null);
  readonly #amounts: number[] = measures.map(() => 0);
  readonly #prefixes: (Prefix | null)[] = [null, ...steps.map(() => null)];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  add({ record, cost, saved = 0, sign = 1 }: SummedRequest): void {
    const { organisationId, durationMs, retryAttemptCount } = record;
    const createdMs = Date.parse(record.createdAt);
    if (organisationId === null || Number.isNaN(createdMs) || !isCounted(record)) return;
    const retries = record.outcome === 'success' ? retryAttemptCount : 0;
    const counts = {
      latency: binOf(durationMs) * binFactor + sign,
      retries: retries > 0 ? retries * binFactor + sign : null,
    };
    const grains = this.#grainsOf(createdMs);
    if (grains > liveGrains.length) this.late.add(organisationId);
    const at: At = { grains, organisationId, createdMs, sign };
    if (record.discarded === undefined) {
      this.#read(record, cost ?? 0, saved, sign);
      return this.#count(at, counts);
    }
    const { own, others } = usageByCall(record, cost ?? 0);
    this.#read(own.record, own.costNano, saved, sign);
    this.#count(at, counts);
    for (const call of others) {
      this.#read(call.record, call.costNano, 0, sign);
      for (let one = 0; one < measures.length; one++)
        if ((measures[one] as Measure).callSql === undefined) this.#amounts[one] = 0;
      this.#count(at, null);
    }
  }

  /** Sets the values and amounts of one request or call. */
  #read(record: RequestRecord, costNano: number, savedNano: number, sign: 1 | -1): void {
    for (let at = 0; at < sources.length; at++) this.#values[at] = (sources[at] as DimensionSource).of(record);
    for (let at = 0; at < measures.length; at++)
      this.#amounts[at] = sign * (measures[at] as Measure).of(record, costNano, savedNano);
  }

  /** Adds the values and amounts that were read to the sums of all grains. `counts`: null for a further call of a request. */
  #count(at: At, counts: Counts | null): void {
    this.#prefixes[0] = prefixOf(at.organisationId);
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as Step;
      const prefix = this.#prefixAfter(step);
      this.#prefixes[index + 1] = prefix;
      if (prefix === null) continue;
      for (const grain of step.ends) if (grain < at.grains) this.#addTo(prefix, grain, at, counts);
    }
  }

  #prefixAfter(step: Step): Prefix | null {
    const parent = this.#prefixes[step.parent] as Prefix | null;
    const value = this.#values[step.dimension] as Value;
    if (parent === null || (step.isRequired && value === null)) return null;
    const known = parent.next(step.slot, value);
    if (known) return known;
    const [end] = step.ends;
    const prefix = new Prefix(end === undefined ? null : nameOf(this.#values, (counted[end] as Grain).keeps));
    parent.add(step.slot, value, prefix);
    prefixCount++;
    return prefix;
  }

  #addTo(prefix: Prefix, grain: number, { organisationId, createdMs, sign }: At, counts: Counts | null): void {
    const span = this.#spanOf(grain, organisationId, createdMs);
    const change = this.#changeOf(prefix, span);
    if (sign === 1) {
      const ms = createdMs - span.startsAtMs;
      if (change.first === -1 || ms < change.first) change.first = ms;
      if (ms > change.last) change.last = ms;
    }
    const { amounts } = change;
    for (let one = 0; one < amounts.length; one++) {
      const amount = this.#amounts[one] as number;
      // Most amounts of most requests are 0.
      if (amount !== 0) amounts[one] = (amounts[one] as number) + amount;
    }
    if (!span.grain.hasCounts || counts === null) return;
    if (change.latency === null) change.latency = [counts.latency];
    else change.latency.push(counts.latency);
    if (counts.retries === null) return;
    if (change.retries === null) change.retries = [counts.retries];
    else change.retries.push(counts.retries);
  }

  #changeOf(prefix: Prefix, span: Span): RollupChange {
    const other = prefix.batch === this.#batch ? prefix.row : -1;
    for (let at = other; at !== -1; ) {
      const known = this.changes[at] as RollupChange;
      if (known.span === span) return known;
      at = known.other;
    }
    const change: RollupChange = {
      span,
      name: prefix.name as RollupName,
      other,
      first: -1,
      last: -1,
      amounts: new Array(measures.length).fill(0),
      latency: null,
      retries: null,
    };
    prefix.batch = this.#batch;
    prefix.row = this.changes.push(change) - 1;
    return change;
  }

  #spanOf(at: number, organisationId: string, createdMs: number): Span {
    const grain = counted[at] as Grain;
    const startsAtMs = windowStartMs(createdMs, grain.lengthMs);
    const last = this.#lastSpans[at];
    if (last && last.startsAtMs === startsAtMs && last.organisationId === organisationId) return last;
    const ofGrain = this.#knownSpans[at] as Map<string, Map<number, Span>>;
    const known = ofGrain.get(organisationId) ?? new Map<number, Span>();
    ofGrain.set(organisationId, known);
    const span = known.get(startsAtMs) ?? { index: this.spans.length, organisationId, grain, startsAtMs };
    if (span.index === this.spans.length) this.spans.push(span);
    known.set(startsAtMs, span);
    this.#lastSpans[at] = span;
    return span;
  }

  /** Returns how many grains a request of this time is added to. */
  #grainsOf(createdMs: number): number {
    if (windowStartMs(createdMs, quarterMs) + quarterMs > this.#nowMs) return liveGrains.length;
    if (windowStartMs(createdMs, dayMs) + dayMs > this.#nowMs) return withQuarters;
    return windowStartMs(createdMs, weekMs) + weekMs > this.#nowMs ? withDays : counted.length;
  }
}

interface At {
  /** Number of grains. */
  readonly grains: number;
  readonly organisationId: string;
  readonly createdMs: number;
  readonly sign: 1 | -1;
}

/** Packed counts of a request. */
interface Counts {
  readonly latency: number;
  readonly retries: number | null;
}

function prefixOf(organisationId: string): Prefix {
  const known = prefixes.get(organisationId);
  if (known) return known;
  const prefix = new Prefix(null);
  prefixes.set(organisationId, prefix);
  prefixCount++;
  return prefix;
}
