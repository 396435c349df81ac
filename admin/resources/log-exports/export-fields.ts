import type { toLog } from '../logs/to-log.ts';

type Log = ReturnType<typeof toLog>;

/** Type of a field in Parquet. `JSON` is an object as text. */
type ColumnType = 'STRING' | 'BOOLEAN' | 'DOUBLE' | 'INT32' | 'TIME' | 'JSON';

interface FieldRule {
  readonly type: ColumnType;
  readonly read: (log: Log) => unknown;
}

/** Every field of an export. */
export const exportFieldRules = {
  id: { type: 'STRING', read: (log) => log._id },
  trace_id: { type: 'STRING', read: (log) => log.metrics.trace_id },
  created_at: { type: 'TIME', read: (log) => log.created_at },
  request: { type: 'JSON', read: (log) => log.request },
  response: { type: 'JSON', read: (log) => log.response },
  is_success: { type: 'BOOLEAN', read: (log) => log.metrics.is_success },
  ai_org: { type: 'STRING', read: (log) => log.metrics.ai_org },
  ai_model: { type: 'STRING', read: (log) => log.metrics.ai_model },
  req_units: { type: 'DOUBLE', read: (log) => log.metrics.req_units },
  res_units: { type: 'DOUBLE', read: (log) => log.metrics.res_units },
  total_units: { type: 'DOUBLE', read: (log) => log.metrics.total_units },
  request_url: { type: 'STRING', read: (log) => log.metrics.request_url },
  cost: { type: 'DOUBLE', read: (log) => log.metrics.cost },
  cost_currency: { type: 'STRING', read: (log) => log.metrics.cost_currency },
  response_time: { type: 'DOUBLE', read: (log) => log.metrics.response_time },
  response_status_code: { type: 'INT32', read: (log) => log.metrics.response_status_code },
  mode: { type: 'STRING', read: (log) => log.metrics.mode },
  config: { type: 'STRING', read: (log) => log.metrics.config },
  prompt_slug: { type: 'STRING', read: (log) => log.metrics.prompt_slug },
  metadata: { type: 'JSON', read: metadataOf },
} as const satisfies Record<string, FieldRule>;

export type ExportField = keyof typeof exportFieldRules;
export const exportFields = Object.keys(exportFieldRules) as ExportField[];

/** Returns the requested fields of a log, in their order. */
export function toExportRow(log: Log, fields: readonly ExportField[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, exportFieldRules[field].read(log)]));
}

/**
 * Returns a row as a line of JSON. Half of a surrogate pair, which bodies may contain, becomes U+FFFD: DuckDB and others refuse the whole file
 * because of it. `JSON.stringify` writes only such halves as escapes.
 */
export function toLine(row: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(row);
  const line = json.includes('\\ud')
    ? json.replace(/\\\\|\\ud[0-9a-f]{3}/g, (found) => (found.length === 6 ? '\ufffd' : found))
    : json;
  return `${line}\n`;
}

function metadataOf({ metrics }: Log): Record<string, string> {
  const values = metrics['metadata.value'];
  return Object.fromEntries(metrics['metadata.key'].map((key, at) => [key, values[at] ?? '']));
}
