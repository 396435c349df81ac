import type { RequestRecord } from '../../../core/contract/plugin/record.ts';
import { type Dimension, dimensionSources, dimensions } from '../dimensions.ts';
import { binOf } from '../latency-bins.ts';
import { measureNames, measures } from '../measures.ts';

/** Name of the table of records in ClickHouse. */
export const recordTable = 'request_records';

const dimensionTypes = { uuid: 'Nullable(UUID)', text: 'LowCardinality(Nullable(String))', integer: 'Nullable(Int32)' } as const;
/** Dimensions with too many values for a dictionary. */
const manyValues: ReadonlySet<Dimension> = new Set(['end_user']);

const dimensionColumns = dimensions.map(
  (name) => `${name} ${manyValues.has(name) ? 'Nullable(String)' : dimensionTypes[dimensionSources[name].type]}`,
);

/**
 * Creates the table of records, with the dimensions and measures of roll-ups as columns. A record that is copied again replaces its
 * earlier copy. Days are partitions, so that old days are dropped whole.
 */
export const createTable = `create table if not exists ${recordTable} (
    organisation_id UUID,
    created_at DateTime64(3, 'UTC'),
    id UUID,
    version UInt64,
    trace_id String,
    span_id Nullable(String),
    outcome LowCardinality(String),
    metadata Map(String, String),
    ${dimensionColumns.join(', ')},
    ${measureNames.map((name) => `${name} Int64`).join(', ')},
    latency_bin Int32,
    retries Int32,
    duration_ms Float64,
    cost Nullable(Int64),
    price_source Nullable(String),
    record String codec(ZSTD(1))
  )
  engine = ReplacingMergeTree(version)
  partition by toYYYYMMDD(created_at)
  order by (organisation_id, created_at, id)`;

export interface PricedRecord {
  readonly record: RequestRecord;
  /** Whole nano-USD. Null: unknown. */
  readonly cost: number | null;
  readonly source: string | null;
}

/** Returns the row of a record as one line of JSON. `cost` is the exact cost; the measure `cost_nano` is bounded as in roll-ups. */
export function toLine({ record, cost, source }: PricedRecord, version: number): string {
  const row: Record<string, unknown> = {
    ...{ organisation_id: record.organisationId, created_at: record.createdAt, id: record.id, version },
    ...{ trace_id: record.traceId, span_id: record.spanId, outcome: record.outcome, metadata: record.metadata },
    ...{ latency_bin: binOf(record.durationMs), duration_ms: record.durationMs, cost, price_source: source },
    retries: record.outcome === 'success' ? record.retryAttemptCount : 0,
    record: JSON.stringify(record),
  };
  for (const name of dimensions) row[name] = dimensionSources[name].of(record);
  measures.forEach((measure, at) => {
    row[measureNames[at] as string] = Math.round(measure.of(record, cost ?? 0));
  });
  return `${JSON.stringify(row)}\n`;
}
