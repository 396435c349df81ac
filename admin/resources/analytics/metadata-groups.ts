import type { EntityManager } from '../../db/open-database.ts';
import type { GroupPage } from './groups.ts';
import { recordsOf, type Selection } from './source.ts';

/** Columns by which groups of metadata are sorted, in the SQL of both stores. */
export const metadataOrders = {
  requests: 'requests',
  cost: 'cost_nano',
  total_tokens: 'tokens',
  // Tokens of a response that no client received count under its model, without a request.
  avg_tokens: 'tokens / nullif(requests, 0)',
  last_seen: 'last_at',
} as const;
export type MetadataOrder = keyof typeof metadataOrders;

export interface MetadataPage extends Omit<GroupPage, 'orderBy'> {
  readonly orderBy: MetadataOrder;
}

/** First row of a page, to read the total when the page itself is empty. */
export const firstRow = { limit: 1, offset: 0 } as const;

/** Returns a page of the values of a metadata key with the figures of their requests. Reads the records. */
export async function readMetadataGroups(
  em: EntityManager,
  selection: Selection,
  key: string,
  page: MetadataPage,
): Promise<MetadataGroups> {
  const { text, values } = recordsOf(selection);
  const rows = await em.execute<(MetadataRow & { total: number })[]>(
    `with used as materialized (
       select s.record->'metadata'->>?::text as value, s.workspace_id, s.trace_id, s.requests, s.cost_nano,
         s.input_tokens + s.output_tokens as tokens, s.created_at
       from (${text}) s where s.record->'metadata'->>?::text is not null),
     rated as (
       select u.value, sum(f.value * f.weight) as points, sum(f.weight) as weight
       from (select distinct value, workspace_id, trace_id from used) u
       join feedbacks f on f.organisation_id = ? and f.workspace_id = u.workspace_id and f.trace_id = u.trace_id group by 1),
     counted as (
       select u.value, sum(u.requests)::float8 as requests, sum(u.cost_nano)::float8 as cost_nano, sum(u.tokens)::float8 as tokens,
         max(u.created_at) as last_at,
         coalesce(sum(u.requests) filter (where exists (select from feedbacks f where f.organisation_id = ?
           and f.workspace_id = u.workspace_id and f.trace_id = u.trace_id)), 0)::float8 as rated
       from used u group by 1 having sum(u.requests) > 0 or sum(u.cost_nano) > 0 or sum(u.tokens) > 0)
     select c.*, coalesce(r.points / nullif(r.weight, 0), 0)::float8 as feedback, count(*) over ()::float8 as total
     from counted c left join rated r using (value) order by ${metadataOrders[page.orderBy]} ${page.order} nulls last, c.value
     limit ? offset ?`,
    [...[key, ...values, key, selection.organisationId, selection.organisationId], ...[page.limit, page.offset]],
  );
  if (rows.length > 0 || page.offset === 0) return { total: rows[0]?.total ?? 0, rows };
  return { total: (await readMetadataGroups(em, selection, key, { ...page, ...firstRow })).total, rows };
}

export interface MetadataGroups {
  readonly total: number;
  readonly rows: readonly MetadataRow[];
}

export interface MetadataRow {
  readonly value: string;
  readonly requests: number;
  readonly cost_nano: number;
  readonly tokens: number;
  readonly last_at: Date | string;
  readonly rated: number;
  readonly feedback: number;
}
