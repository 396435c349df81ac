import type { Dimension } from '../../analytics/dimensions.ts';
import type { BinCount } from '../../analytics/latency-bins.ts';
import { type MeasureName, measureNames } from '../../analytics/measures.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type Selection, sourceOf } from './source.ts';

/** Sums over requests. */
export type Totals = Readonly<Record<MeasureName, number>>;

export const sums = measureNames.map((name) => `coalesce(sum(s.${name}), 0)::float8 as ${name}`).join(', ');
/** Start of the bucket of a row of `s`, in milliseconds. Takes the length of a bucket twice. */
export const bucket = '(floor(extract(epoch from s.starts_at) * 1000 / ?) * ?)::float8 as bucket';
/** The bin of a packed count; the rest is the number. */
export const binOf = '((packed + 2147483648) >> 32)';

interface Bucket extends Totals {
  /** Start in milliseconds. */
  readonly bucket: number;
}

/** Sums of a bucket and a value of a dimension. */
export interface BucketOf<Value> extends Bucket {
  readonly value: Value;
}

/** Returns the sums of each bucket with requests. */
export async function readBuckets(em: EntityManager, selection: Selection): Promise<Map<number, Totals>> {
  const { text, values } = sourceOf(selection, []);
  const { bucketMs } = selection.range;
  const rows = await em.execute<Bucket[]>(`select ${bucket}, ${sums} from (${text}) s group by 1`, [
    bucketMs,
    bucketMs,
    ...values,
  ]);
  return new Map(rows.map((row) => [Number(row.bucket), row]));
}

/** Returns the sums of each bucket and value of a dimension. */
export async function readBucketsBy<Value>(
  em: EntityManager,
  selection: Selection,
  dimension: Dimension,
): Promise<BucketOf<Value>[]> {
  const { text, values } = sourceOf(selection, [dimension]);
  const { bucketMs } = selection.range;
  const by = `select ${bucket}, s.${dimension} as value, ${sums} from (${text}) s group by 1, 2`;
  return em.execute(by, [bucketMs, bucketMs, ...values]);
}

/** Returns the number of requests in each bucket and bin of `latency` or `retries`. */
export async function readBins(
  em: EntityManager,
  selection: Selection,
  column: 'latency' | 'retries',
): Promise<Map<number, BinCount[]>> {
  const { text, values } = sourceOf(selection, [], { withCounts: true });
  const { bucketMs } = selection.range;
  const rows = await em.execute<(BinCount & { bucket: number })[]>(
    `select ${bucket}, ${binOf}::int as bin, sum(packed - (${binOf} << 32))::float8 as count
     from (${text}) s, unnest(s.${column}) packed group by 1, 2`,
    [bucketMs, bucketMs, ...values],
  );
  return Map.groupBy(rows, (row) => Number(row.bucket));
}

/** The sums of no requests. */
export const none: Totals = Object.fromEntries(measureNames.map((name) => [name, 0])) as Record<MeasureName, number>;

/** Sums buckets. */
export function totalOf(buckets: Iterable<Totals>): Totals {
  const total = { ...none } as Record<MeasureName, number>;
  for (const one of buckets) for (const name of measureNames) total[name] += Number(one[name]);
  return total;
}
