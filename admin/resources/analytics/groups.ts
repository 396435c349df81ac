import type { Dimension } from '../../analytics/dimensions.ts';
import { quantilesOf } from '../../analytics/latency-bins.ts';
import { measureNames } from '../../analytics/measures.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { centsOf, ratio, tokensOf } from './graphs.ts';
import { binCounts, none, sumOf, type Totals } from './read-usage.ts';
import type { ColumnName } from './schema.ts';
import { type DatedSelection, sourceOf } from './source.ts';

/** Dimensions of `/analytics/groups/{groupBy}` and the columns that they stand for. */
export const groupings = {
  ai_service: ['provider'],
  model: ['model', 'provider'],
  status_code: ['status'],
  api_key: ['api_key_id'],
  config: ['config_slug'],
  workspace: ['workspace_id'],
  provider: ['provider_slug'],
  prompt: ['prompt_slug'],
  prompt_version: ['prompt_slug', 'prompt_version'],
} as const satisfies Readonly<Record<string, readonly Dimension[]>>;
export type GroupBy = keyof typeof groupings;

export interface GroupPage {
  readonly limit: number;
  readonly offset: number;
  readonly orderBy: ColumnName;
  readonly order: 'asc' | 'desc';
}

export interface Group extends Totals {
  readonly values: readonly (string | number | null)[];
  readonly first_at: Date;
  readonly last_at: Date;
  readonly p95: number;
  readonly p99: number;
}

/** SQL of each column over the sums of a group `g`, which names the sums that the column needs; null: computed from the latency bins. */
export const orders: Readonly<Record<ColumnName, string | null>> = {
  requests: 'g.requests',
  cost: 'g.cost_nano',
  total_tokens: 'g.input_tokens + g.output_tokens',
  avg_tokens: '(g.input_tokens + g.output_tokens) / nullif(g.requests, 0)',
  avg_input_tokens: 'g.input_tokens / nullif(g.requests, 0)',
  avg_output_tokens: 'g.output_tokens / nullif(g.requests, 0)',
  avg_latency: 'g.duration_us / nullif(g.requests, 0)',
  p95_latency: null,
  p99_latency: null,
  success_rate: '(g.requests - g.errors) / nullif(g.requests, 0)',
  error_count: 'g.errors',
  cache_hit_rate: 'g.cache_hits / nullif(g.requests, 0)',
  last_seen: 'g.last_at',
  first_seen: 'g.first_at',
};

/** Maximum number of groups whose percentiles are computed to sort by them. */
export const sortedMax = 10_000;

export interface GroupsOptions {
  readonly page: GroupPage;
  /** The columns of groups that are used; sums that none of them needs are 0. */
  readonly columns: readonly ColumnName[];
  /** Leaves out requests without a value of the first dimension. */
  readonly isKnown?: boolean;
}

export interface GroupsPage {
  readonly total: number;
  readonly groups: readonly Group[];
}

/**
 * Returns a page of the groups with requests, and their number. Rows are read once for the sums. The
 * positions of a group's rows are collected with them, so that counts of latencies are read for the groups of the page only.
 */
export async function readGroups(
  em: EntityManager,
  selection: DatedSelection,
  by: readonly Dimension[],
  { page, columns, isKnown = false }: GroupsOptions,
): Promise<GroupsPage> {
  const order = orders[page.orderBy];
  const withCounts = hasPercentiles([...columns, page.orderBy]);
  const summed = sumsFor([...columns, page.orderBy]);
  const { text, values, isRollups } = sourceOf(selection, by, { withCounts, inBuckets: false });
  const names = by.map((_, at) => `v${at}`);
  const [limit, offset] = order === null ? [sortedMax, 0] : [page.limit, page.offset];
  const ordered = `order by ${order === null ? '' : `${order} ${page.order} nulls last, `}${names.map((name) => `${name} nulls last`).join(', ')}`;
  const selected = ['total', ...names, ...Object.keys(summed)].map((name) => `g.${name}`).join(', ');
  const { collected, unnested } = isRollups ? countsOfRollups : countsOfRecords;
  const rows = await em.execute<GroupRow[]>(
    `with summed as (
       select ${by.map((name, at) => `s.${name} as v${at}`).join(', ')}, ${Object.values(summed).join(', ')}
         ${withCounts ? `, array_agg(${collected}) as collected` : ''}
       from (${text}) s ${isKnown ? `where s.${by[0]} is not null` : ''} group by ${names.join(', ')}
         having sum(s.requests) > 0 or sum(s.cost_nano) > 0 or sum(s.input_tokens) > 0 or sum(s.output_tokens) > 0),
     page as materialized (select g.*, count(*) over ()::float8 as total from summed g ${ordered} limit ? offset ?)
     select ${selected} ${withCounts ? `, (${binsIn(unnested)}) as bins` : ''} from page g ${ordered}`,
    [...values, limit, offset],
  );
  if (rows.length === 0 && offset > 0) {
    const first = { page: { ...page, limit: 1, offset: 0 }, columns: [], isKnown };
    return { total: (await readGroups(em, selection, by, first)).total, groups: [] };
  }
  const groups = rows.map((row) => toGroup(row, names));
  return { total: rows[0]?.total ?? 0, groups: order === null ? sortedPage(groups, page) : groups };
}

/** True if one of the columns is computed from the latency bins. */
export const hasPercentiles = (columns: readonly ColumnName[]) => columns.some((name) => orders[name] === null);

const everySum = {
  ...Object.fromEntries(measureNames.map((name) => [name, sumOf(name)])),
  first_at: 'min(s.first_at) as first_at',
  last_at: 'max(s.last_at) as last_at',
};

/** SQL of the sums that these columns need, by name. A row has 30 columns, and reading fewer of them takes less time. */
function sumsFor(columns: readonly ColumnName[]): Readonly<Record<string, string>> {
  const needed = columns.flatMap((name) => orders[name]?.match(/(?<=g\.)\w+/g) ?? []);
  return Object.fromEntries(Object.entries(everySum).filter(([name]) => name === 'requests' || needed.includes(name)));
}

/**
 * `collected` is an expression that each group aggregates over its rows `s`. `unnested` is the query that reads the packed counts of
 * latencies from the aggregate.
 */
const countsOfRollups = {
  collected: 's.ctid',
  unnested: 'select unnest(r.latency) as packed from unnest(g.collected) at(id) join usage_rollups r on r.ctid = at.id',
};
/** A record has one count, and a response that no client received has none. */
const countsOfRecords = {
  collected: 's.latency[1]',
  unnested: 'select packed from unnest(g.collected) packed where packed is not null',
};

/** Returns a query of the number of requests in each bin, as an object. */
const binsIn = (packed: string) =>
  `select json_object_agg(bin, count) from (
     select ${binCounts} from (${packed}) p group by 1) b`;

/** A row of a group, with its values in columns and the number of requests by bin of latency. */
export type GroupRow = Partial<Totals> & {
  readonly total: number;
  readonly first_at?: Date | string | number;
  readonly last_at?: Date | string | number;
  readonly bins?: Readonly<Record<string, number>> | null;
};

/** Converts a row of a statement. The percentiles are computed from the counts by bin, and are 0 without bins. */
export function toGroup(row: GroupRow, names: readonly string[]): Group {
  const { bins, first_at = 0, last_at = 0, ...sums } = row;
  const counts = Object.entries(bins ?? {}).map(([bin, count]) => ({ bin: Number(bin), count }));
  const [p95 = 0, p99 = 0] = quantilesOf(counts, [0.95, 0.99]);
  const values = names.map((name) => (row as unknown as Record<string, string | number | null>)[name] ?? null);
  return { ...none, ...sums, values, first_at: new Date(first_at), last_at: new Date(last_at), p95, p99 };
}

/** Sorts groups by a percentile and returns a page of them. */
export function sortedPage(groups: readonly Group[], { orderBy, order, limit, offset }: GroupPage): readonly Group[] {
  const of = (group: Group) => (orderBy === 'p95_latency' ? group.p95 : group.p99);
  const sign = order === 'asc' ? 1 : -1;
  return groups.toSorted((left, right) => sign * (of(left) - of(right))).slice(offset, offset + limit);
}

/** The wire form of each column. */
const figures: Readonly<Record<ColumnName, (group: Group) => number | string>> = {
  requests: ({ requests }) => requests,
  cost: centsOf,
  total_tokens: tokensOf,
  avg_tokens: (group) => ratio(tokensOf(group), group.requests),
  avg_input_tokens: (group) => ratio(group.input_tokens, group.requests),
  avg_output_tokens: (group) => ratio(group.output_tokens, group.requests),
  avg_latency: (group) => ratio(group.duration_us, group.requests) / 1000,
  p95_latency: ({ p95 }) => p95,
  p99_latency: ({ p99 }) => p99,
  success_rate: ({ requests, errors }) => 100 * ratio(requests - errors, requests),
  error_count: ({ errors }) => errors,
  cache_hit_rate: ({ cache_hits, requests }) => 100 * ratio(cache_hits, requests),
  last_seen: ({ last_at }) => last_at.toISOString(),
  first_seen: ({ first_at }) => first_at.toISOString(),
};

/** Returns the requested columns of a group. */
export function columnsOf(group: Group, names: readonly ColumnName[]): Partial<Record<ColumnName, number | string>> {
  return Object.fromEntries(names.map((name) => [name, figures[name](group)]));
}
