import type { Dimension } from '../../analytics/dimensions.ts';
import type { BinCount } from '../../analytics/latency-bins.ts';
import { type MeasureName, measureNames } from '../../analytics/measures.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type DatedSelection, sourceOf } from './source.ts';

/** Sums over requests. */
export type Totals = Readonly<Record<MeasureName, number>>;

export const sumOf = (name: MeasureName) => `coalesce(sum(s.${name}), 0)::float8 as ${name}`;
const sums = measureNames.map(sumOf).join(', ');
/** Adds the start of its bucket to each row, as `bucket_at`. The length of a bucket in milliseconds comes before the values of the text. */
export const inBuckets = (text: string) =>
  `(select date_bin(? * interval '1 millisecond', x.starts_at, 'epoch') as bucket_at, x.* from (${text}) x)`;
/** Start of the bucket in milliseconds. Computed for each group, not for each row: numbers of any precision took a third of a query. */
export const bucket = '(extract(epoch from s.bucket_at) * 1000)::float8 as bucket';
/** The bin of a packed count, and the number, which is at most 2^31. A sum of `int` takes less time than one of `bigint`. Arrays are unnested in a select list: a join with `unnest` stores each array first. */
const binOf = '((packed + 2147483648) >> 32)::int';
export const binCounts = `${binOf} as bin, sum(((packed << 32) >> 32)::int)::float8 as count`;

interface Bucket extends Totals {
  /** Start in milliseconds. */
  readonly bucket: number;
}

/** Sums of a bucket and a value of a dimension. */
export interface BucketOf<Value> extends Bucket {
  readonly value: Value;
}

/** Returns the sums of each bucket with requests. */
export async function readBuckets(em: EntityManager, selection: DatedSelection): Promise<Map<number, Totals>> {
  const { text, values } = sourceOf(selection, []);
  const { bucketMs } = selection.range;
  const rows = await em.execute<Bucket[]>(`select ${bucket}, ${sums} from ${inBuckets(text)} s group by s.bucket_at`, [
    bucketMs,
    ...values,
  ]);
  return new Map(rows.map((row) => [Number(row.bucket), row]));
}

/** Returns the sums of each bucket and value of a dimension. */
export async function readBucketsBy<Value>(
  em: EntityManager,
  selection: DatedSelection,
  dimension: Dimension,
): Promise<BucketOf<Value>[]> {
  const { text, values } = sourceOf(selection, [dimension]);
  const { bucketMs } = selection.range;
  const by = `select ${bucket}, s.${dimension} as value, ${sums} from ${inBuckets(text)} s group by s.bucket_at, 2`;
  return em.execute(by, [bucketMs, ...values]);
}

/** Returns the number of requests in each bucket and bin of `latency` or `retries`. */
export async function readBins(
  em: EntityManager,
  selection: DatedSelection,
  column: 'latency' | 'retries',
): Promise<Map<number, BinCount[]>> {
  const { text, values } = sourceOf(selection, [], { withCounts: true });
  const { bucketMs } = selection.range;
  const rows = await em.execute<(BinCount & { bucket: number })[]>(
    `select ${bucket}, ${binCounts}
     from (select bucket_at, unnest(${column}) as packed from ${inBuckets(text)} b) s group by s.bucket_at, 2`,
    [bucketMs, ...values],
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
