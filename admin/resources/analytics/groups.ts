import type { Dimension } from '../../analytics/dimensions.ts';
import { type BinCount, quantilesOf } from '../../analytics/latency-bins.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { centsOf, ratio, tokensOf } from './graphs.ts';
import { binOf, sums, type Totals } from './read-usage.ts';
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
  readonly first_at: Date | string;
  readonly last_at: Date | string;
  readonly p95: number;
  readonly p99: number;
}

/** SQL of each column over the sums of a group `g`; null: computed from the latency bins. */
export const orders: Readonly<Record<ColumnName, string | null>> = {
  requests: 'g.requests',
  cost: 'g.cost_nano',
  total_tokens: 'g.input_tokens + g.output_tokens',
  avg_tokens: '(g.input_tokens + g.output_tokens) / g.requests',
  avg_input_tokens: 'g.input_tokens / g.requests',
  avg_output_tokens: 'g.output_tokens / g.requests',
  avg_latency: 'g.duration_us / g.requests',
  p95_latency: null,
  p99_latency: null,
  success_rate: '(g.requests - g.errors) / g.requests',
  error_count: 'g.errors',
  cache_hit_rate: 'g.cache_hits / g.requests',
  last_seen: 'g.last_at',
  first_seen: 'g.first_at',
};

/** Maximum number of groups whose percentiles are computed to sort by them. */
export const sortedMax = 10_000;

export interface GroupsOptions {
  readonly page: GroupPage;
  readonly withLatency: boolean;
  /** Leaves out requests without a value of the first dimension. */
  readonly isKnown?: boolean;
}

export interface GroupsPage {
  readonly total: number;
  readonly groups: readonly Group[];
}

/** Returns a page of the groups with requests, and their number. Percentiles are computed only if `withLatency`. */
export async function readGroups(
  em: EntityManager,
  selection: DatedSelection,
  by: readonly Dimension[],
  { page, withLatency, isKnown = false }: GroupsOptions,
): Promise<GroupsPage> {
  const { text, values } = sourceOf(selection, by);
  const names = by.map((_, at) => `v${at}`);
  const order = orders[page.orderBy];
  const [limit, offset] = order === null ? [sortedMax, 0] : [page.limit, page.offset];
  const rows = await em.execute<(Totals & { total: number; first_at: Date; last_at: Date })[]>(
    `select g.*, count(*) over ()::float8 as total from (
       select ${by.map((name, at) => `s.${name} as v${at}`).join(', ')}, ${sums}, min(s.first_at) as first_at, max(s.last_at) as last_at
       from (${text}) s ${isKnown ? `where s.${by[0]} is not null` : ''} group by ${names.join(', ')} having sum(s.requests) > 0) g
     order by ${order === null ? '' : `${order} ${page.order}, `}${names.map((name) => `${name} nulls last`).join(', ')}
     limit ? offset ?`,
    [...values, limit, offset],
  );
  const bare = rows.map((row) => ({
    ...row,
    values: names.map((name) => (row as unknown as Record<string, string>)[name] ?? null),
  }));
  const bins = withLatency || order === null ? await readBinsOf(em, selection, by, bare) : new Map<string, BinCount[]>();
  const groups = bare.map((row): Group => {
    const [p95 = 0, p99 = 0] = quantilesOf(bins.get(JSON.stringify(row.values)) ?? [], [0.95, 0.99]);
    return { ...row, p95, p99 };
  });
  return { total: rows[0]?.total ?? 0, groups: order === null ? sortedPage(groups, page) : groups };
}

/** Sorts groups by a percentile and returns a page of them. */
export function sortedPage(groups: readonly Group[], { orderBy, order, limit, offset }: GroupPage): readonly Group[] {
  const of = (group: Group) => (orderBy === 'p95_latency' ? group.p95 : group.p99);
  const sign = order === 'asc' ? 1 : -1;
  return groups.toSorted((left, right) => sign * (of(left) - of(right))).slice(offset, offset + limit);
}

/** Latency bins of these groups, by the JSON of their values. */
async function readBinsOf(
  em: EntityManager,
  selection: DatedSelection,
  by: readonly Dimension[],
  groups: readonly { readonly values: Group['values'] }[],
): Promise<Map<string, BinCount[]>> {
  const { text, values } = sourceOf(selection, by, { withCounts: true });
  // Equality of texts, because the database cannot hash `is not distinct from`. Bins are grouped by the number of the group for speed.
  const wanted = by.map((_, at) => `coalesce(v->>${at}, '') as v${at}, v->>${at} is null as n${at}`);
  const same = by.map((name, at) => `w.v${at} = coalesce(s.${name}::text, '') and w.n${at} = (s.${name} is null)`);
  const rows = await em.execute<(BinCount & { group: number })[]>(
    `with wanted as materialized (
         select (at - 1)::int as at, ${wanted.join(', ')} from jsonb_array_elements(?::jsonb) with ordinality w(v, at)),
       counted as materialized (select w.at, s.latency from (${text}) s join wanted w on ${same.join(' and ')})
     select p.at as group, ${binOf}::int as bin, sum(packed - (${binOf} << 32))::float8 as count
     from (select at, unnest(latency) as packed from counted) p group by 1, 2`,
    [JSON.stringify(groups.map((group) => group.values)), ...values],
  );
  const bins = new Map<string, BinCount[]>();
  for (const row of rows) {
    const name = JSON.stringify(groups[row.group]?.values);
    const known = bins.get(name);
    if (known) known.push(row);
    else bins.set(name, [row]);
  }
  return bins;
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
  last_seen: ({ last_at }) => new Date(last_at).toISOString(),
  first_seen: ({ first_at }) => new Date(first_at).toISOString(),
};

/** Returns the requested columns of a group. */
export function columnsOf(group: Group, names: readonly ColumnName[]): Partial<Record<ColumnName, number | string>> {
  return Object.fromEntries(names.map((name) => [name, figures[name](group)]));
}
