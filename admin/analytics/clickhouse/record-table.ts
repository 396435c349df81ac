import { isCounted, type RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { type Dimension, dimensionSources, dimensions } from '../dimensions.ts';
import { binOf } from '../latency-bins.ts';
import { measureNames, measures } from '../measures.ts';

/** Name of the table of records in ClickHouse. */
export const recordTable = 'request_records';

const dimensionTypes = { uuid: 'Nullable(UUID)', text: 'LowCardinality(Nullable(String))', integer: 'Nullable(Int32)' } as const;
/** Dimensions with too many values for a dictionary. */
const manyValues: ReadonlySet<Dimension> = new Set(['end_user']);

/** Type of every column. */
const columns: Readonly<Record<string, string>> = {
  organisation_id: 'UUID',
  created_at: "DateTime64(3, 'UTC')",
  id: 'UUID',
  version: 'UInt64',
  trace_id: 'String',
  span_id: 'Nullable(String)',
  outcome: 'LowCardinality(String)',
  metadata: 'Map(String, String)',
  ...Object.fromEntries(
    dimensions.map((name) => [name, manyValues.has(name) ? 'Nullable(String)' : dimensionTypes[dimensionSources[name].type]]),
  ),
  ...Object.fromEntries(measureNames.map((name) => [name, 'Int64'])),
  latency_bin: 'Int32',
  retries: 'Int32',
  duration_ms: 'Float64',
  cost: 'Nullable(Int64)',
  saved: 'Nullable(Int64)',
  price_source: 'Nullable(String)',
  record: 'String codec(ZSTD(1))',
};

/**
 * Creates the table of records, with the dimensions and measures of roll-ups as columns, and adds the columns that a table of an earlier version
 * lacks. A record that is copied again replaces its earlier copy. Days are partitions, so that old days are dropped whole.
 */
export async function prepareTable(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.run(`create table if not exists ${recordTable} (${Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
    engine = ReplacingMergeTree(version) partition by toYYYYMMDD(created_at) order by (organisation_id, created_at, id)`);
  const known = new Set((await clickhouse.query<{ name: string }>(`describe table ${recordTable}`)).map(({ name }) => name));
  const missing = Object.entries(columns).filter(([name]) => !known.has(name));
  // Alters the table only if needed, because that needs a separate right.
  if (missing.length === 0) return;
  const added = missing.map(([name, type]) => `add column if not exists ${name} ${type}`);
  await clickhouse.run(`alter table ${recordTable} ${added.join(', ')}`);
}

export interface PricedRecord {
  readonly record: RequestRecord;
  /** Whole nano-USD. Null: unknown. */
  readonly cost: number | null;
  readonly source: string | null;
  /** Whole nano-USD that a cached reply saved. Absent: unknown, or not from the cache. */
  readonly saved?: number | undefined;
}

/** Returns the row of a record as one line of JSON. `cost` and `saved` are exact; the measures of both are bounded as in roll-ups. */
export function toLine({ record, cost, source, saved }: PricedRecord, version: number): string {
  const row: Record<string, unknown> = {
    ...{ organisation_id: record.organisationId, created_at: record.createdAt, id: record.id, version },
    ...{ trace_id: record.traceId, span_id: record.spanId, outcome: record.outcome, metadata: record.metadata },
    ...{
      latency_bin: binOf(record.durationMs),
      duration_ms: record.durationMs,
      cost,
      saved: saved ?? null,
      price_source: source,
    },
    retries: record.outcome === 'success' ? record.retryAttemptCount : 0,
    record: JSON.stringify(record),
  };
  for (const name of dimensions) row[name] = dimensionSources[name].of(record);
  measures.forEach((measure, at) => {
    row[measureNames[at] as string] = isCounted(record) ? Math.round(measure.of(record, cost ?? 0, saved ?? 0)) : 0;
  });
  return `${JSON.stringify(row)}\n`;
}
