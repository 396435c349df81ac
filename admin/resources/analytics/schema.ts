import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, time } from '../../http/reply/reply-schemas.ts';
import { currentPage, pageSizeFromZero, queryFlag, queryTime, tenantEntries } from '../../http/request/schemas.ts';
import { logFilterEntries } from '../logs/filters.ts';

/** Filters of all analytics. Both times are required. */
export const filterQuery = v.strictObject({
  ...tenantEntries,
  ...logFilterEntries,
  time_of_generation_min: queryTime,
  time_of_generation_max: queryTime,
});

const number = v.number();
const timestamp = { timestamp: time };
const total = { total: number };

/** `{summary, data_points, object: "analytics-graph"}`. */
function graph<Summary extends v.ObjectEntries, Point extends v.ObjectEntries>(summary: Summary, point: Point) {
  return v.strictObject({
    summary: v.strictObject(summary),
    data_points: v.array(v.strictObject(point)),
    object: v.literal('analytics-graph'),
  });
}

const latencies = { avg: number, p50: number, p90: number, p99: number };

/** Replies of the graphs, by the path below `/analytics/graphs/`. Costs are in US cents, latencies in milliseconds. */
export const graphReplies = {
  requests: graph(total, { ...timestamp, ...total }),
  cost: graph({ ...total, avg: number }, { ...timestamp, ...total, avg: number }),
  latency: graph(latencies, { ...timestamp, ...latencies }),
  tokens: graph({ ...total, avg: number }, { ...timestamp, ...total, avg: number }),
  users: graph(total, { ...timestamp, ...total }),
  'users/requests': graph({ ...total, unique: number, avg: number }, { ...timestamp, avg: number }),
  errors: graph(total, { ...timestamp, ...total }),
  'errors/rate': graph({ rate: number }, { ...timestamp, rate: number }),
  'errors/stacks': graph(total, {
    ...timestamp,
    stats: v.array(v.strictObject({ response_status_code: number, count: number })),
  }),
  'errors/status-codes': graph({ total_errors: number, unique_error_codes: number }, { status_code: number, count: number }),
  'requests/rescued': graph(
    { retry: number, fallback: number },
    { ...timestamp, retry: v.array(v.strictObject({ retry_success_count: number, count: number })), fallback: number },
  ),
  'cache/hit-rate': graph(
    { ...total, rate: number },
    {
      ...timestamp,
      simple_hits: number,
      semantic_hits: number,
      rate: number,
      cumulative_simple_cache_savings: number,
      cumulative_semantic_cache_savings: number,
    },
  ),
  'cache/latency': graph({}, { ...timestamp, avg: number }),
  feedbacks: graph(total, { ...timestamp, ...total }),
  'feedbacks/scores': graph(total, { score: number, ...total }),
  'feedbacks/weighted': graph({ avg: number }, { ...timestamp, avg: number }),
  'feedbacks/ai-models': graph({}, { ai_model: nullableText, ...total, avg_weighted_feedback: number }),
} as const;
export type GraphName = keyof typeof graphReplies;

/** Paths below `/analytics/graphs/` that the JavaScript client of the known API asks for, and the graphs that it means. */
export const graphsOfClients: Readonly<Record<string, GraphName>> = {
  'users-requests': 'users/requests',
  'errors-rate': 'errors/rate',
  'errors-stack': 'errors/stacks',
  'errors-status-code': 'errors/status-codes',
  'requests-rescued': 'requests/rescued',
  'cache-hit-rate': 'cache/hit-rate',
  'cache-latency': 'cache/latency',
  'feedbacks/score': 'feedbacks/scores',
};

export const cacheSummaryReply = v.strictObject({
  summary: v.strictObject({ hits: number, avg_latency: number, total_requests: number, cache_speedup: number }),
  object: v.literal('analytics-summary'),
});

const pageEntries = { current_page: currentPage, page_size: pageSizeFromZero };

/** Figures of a group, each as a column. */
const columnNames = [
  'requests',
  'cost',
  'total_tokens',
  'avg_tokens',
  'avg_input_tokens',
  'avg_output_tokens',
  'avg_latency',
  'p95_latency',
  'p99_latency',
  'success_rate',
  'error_count',
  'cache_hit_rate',
  'last_seen',
  'first_seen',
] as const;
export type ColumnName = (typeof columnNames)[number];

const columns = v.pipe(
  v.string(),
  v.maxLength(500, 'at most 500 characters'),
  v.transform((text) => text.split(',').map((one) => one.trim())),
  v.array(v.picklist(columnNames, `a list of ${columnNames.join(', ')} is expected`)),
  v.metadata({ jsonSchema: { type: 'string' } }),
);

export const groupQuery = v.strictObject({
  ...filterQuery.entries,
  ...pageEntries,
  columns: v.optional(columns),
  order_by: v.optional(v.picklist(columnNames, `one of ${columnNames.join(', ')} is expected`)),
  order: v.optional(oneOf(['asc', 'desc'])),
  /** The name of `order` in clients of the known API. */
  order_by_type: v.optional(oneOf(['asc', 'desc'])),
  include_total: queryFlag,
});

const group = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject({
    object: v.literal('list'),
    total: number,
    data: v.array(v.strictObject({ ...entries, object: v.literal('analytics-group') })),
  });

export const usersReply = group({ user: v.string(), requests: number, cost: number });
export const modelsReply = group({ ai_model: nullableText, requests: number });

const figure = v.optional(number);
/** One group: its value under the name of the dimension, and the requested columns. */
export const groupsReply = group({
  ...Object.fromEntries(
    [
      'ai_service',
      'model',
      'status_code',
      'api_key',
      'api_key_name',
      'config',
      'workspace',
      'provider',
      'prompt',
      'prompt_version',
    ].map((name) => [name, v.optional(v.nullable(v.union([v.string(), number])))]),
  ),
  ...Object.fromEntries(columnNames.map((name) => [name, figure])),
  first_seen: v.optional(time),
  last_seen: v.optional(time),
});

export const metadataReply = group({
  metadata_value: v.string(),
  requests: number,
  cost: number,
  avg_tokens: number,
  avg_weighted_feedback: number,
  requests_with_feedback: number,
  last_seen: time,
});
