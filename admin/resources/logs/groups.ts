import type { EntityManager } from '../../db/open-database.ts';
import { allOf, type Condition } from './filters.ts';

/** Expressions that logs can be grouped by. */
const groupExpressions = {
  ai_service: 'r.provider',
  model: 'r.model',
  status_code: 'r.status',
  api_key: 'r.api_key_id',
  config: 'r.config_slug',
  workspace: 'r.workspace_id',
  provider: 'r.provider_slug',
  prompt: "r.record->>'promptSlug'",
  prompt_version: "r.record->>'promptSlug' || '@' || (r.record->>'promptVersion')",
} as const;
export type GroupBy = keyof typeof groupExpressions;
export const groupNames = Object.keys(groupExpressions) as GroupBy[];

const number = (field: string) => `(r.record->>'${field}')::float8`;

/** Values of a record that columns are computed from. */
const fields = {
  cost_micro_usd: 'r.cost_micro_usd',
  cost_nano_rest: 'r.cost_nano_rest',
  input_tokens: ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'].map(number).join(' + '),
  output_tokens: number('outputTokens'),
  duration_ms: number('durationMs'),
  outcome: 'r.outcome',
  cache_status: "r.record->>'cacheStatus'",
  created_at: 'r.created_at',
} as const;

const latency = (share: number) => `percentile_cont(${share}) within group (order by g.duration_ms)`;
const percent = (condition: string) => `100 * count(*) filter (where ${condition})::float8 / count(*)`;

/** As in analytics: open sessions have not failed. */
const done = "g.outcome in ('success', 'open')";

/** Columns of a group, besides its value and the number of its requests, with the units of groups in analytics: US cents, milliseconds, percent. */
export const groupColumns = {
  cost: '(coalesce(sum(g.cost_micro_usd), 0) * 1000 + coalesce(sum(g.cost_nano_rest), 0))::float8 / 10000000',
  total_tokens: 'sum(g.input_tokens + g.output_tokens)',
  avg_tokens: 'avg(g.input_tokens + g.output_tokens)',
  avg_input_tokens: 'avg(g.input_tokens)',
  avg_output_tokens: 'avg(g.output_tokens)',
  avg_latency: 'avg(g.duration_ms)',
  p95_latency: latency(0.95),
  p99_latency: latency(0.99),
  success_rate: percent(done),
  error_count: `count(*) filter (where not ${done})`,
  cache_hit_rate: percent("g.cache_status in ('HIT', 'SEMANTIC HIT')"),
  last_seen: 'max(g.created_at)',
  first_seen: 'min(g.created_at)',
} as const;
export type GroupColumn = keyof typeof groupColumns;
const times: readonly string[] = ['last_seen', 'first_seen'];

/** A property of logs or a metadata key, whose values form groups. */
export type LogGrouping = { readonly property: GroupBy } | { readonly metadataKey: string };

function expressionOf(by: LogGrouping): Condition {
  if ('property' in by) return { text: groupExpressions[by.property], values: [] };
  return { text: "r.record->'metadata'->>?::text", values: [by.metadataKey] };
}

export interface GroupPage {
  readonly columns: readonly GroupColumn[];
  readonly limit: number;
  readonly offset: number;
}

export type GroupRow = { readonly value: string; readonly requests: number } & { readonly [column: string]: unknown };

/** Returns the groups with the most requests. Logs without a value are left out. */
export async function groupLogs(
  em: EntityManager,
  conditions: readonly Condition[],
  grouping: LogGrouping,
  { columns, limit, offset }: GroupPage,
): Promise<GroupRow[]> {
  const by = expressionOf(grouping);
  const { text, values } = allOf(conditions);
  const selected = columns.map((column) => `, ${groupColumns[column]} as ${column}`).join('');
  const read = Object.entries(fields).flatMap(([name, field]) => (selected.includes(`g.${name}`) ? `, ${field} as ${name}` : []));
  // Percentiles sort the rows. With `offset 0`, PostgreSQL sorts these values instead of whole records, which took 165 MB on disk for 100,000
  // of them. Other columns are added up without it, because it prevents parallel sums.
  const fence = selected.includes('within group') ? 'offset 0' : '';
  const rows = await em.execute<Record<string, unknown>[]>(
    `select g.value, count(*) as requests${selected} from (
       select (${by.text})::text as value${read.join('')} from request_records r where ${text} ${fence}
     ) g
     where g.value is not null
     group by g.value order by requests desc, g.value limit ? offset ?`,
    [...by.values, ...values, limit, offset],
  );
  return rows.map((row) => toGroup(row, columns));
}

/** Returns a row of a database as a group. */
export function toGroup(row: Readonly<Record<string, unknown>>, columns: readonly GroupColumn[]): GroupRow {
  const entries = columns.map((column) => [column, times.includes(column) ? timeOf(row[column]) : Number(row[column] ?? 0)]);
  return { value: String(row.value), requests: Number(row.requests), ...Object.fromEntries(entries) };
}

/** Returns the number of groups. */
export async function countGroups(em: EntityManager, conditions: readonly Condition[], grouping: LogGrouping): Promise<number> {
  const by = expressionOf(grouping);
  const { text, values } = allOf(conditions);
  const [row] = await em.execute<[{ count: number | string }]>(
    `select count(distinct g.value) as count from request_records r cross join lateral (select ${by.text} as value) g where ${text}`,
    [...by.values, ...values],
  );
  return Number(row.count);
}

/** Returns the metadata keys of logs, with the most frequent first. */
export async function metadataKeys(em: EntityManager, conditions: readonly Condition[], limit: number): Promise<GroupRow[]> {
  const { text, values } = allOf(conditions);
  const rows = await em.execute<{ value: string; requests: number | string }[]>(
    `select k.key as value, count(*) as requests from request_records r
       cross join lateral jsonb_object_keys(r.record->'metadata') k(key)
     where ${text} group by k.key order by requests desc, k.key limit ?`,
    [...values, limit],
  );
  return rows.map(({ value, requests }) => ({ value, requests: Number(requests) }));
}

function timeOf(value: unknown): string {
  return new Date(value as string | Date).toISOString();
}
