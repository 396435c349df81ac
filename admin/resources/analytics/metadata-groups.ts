import type { EntityManager } from '../../db/open-database.ts';
import type { Page } from '../../http/request/schemas.ts';
import { recordsOf, type Selection } from './source.ts';

/** Returns a page of the values of a metadata key with the figures of their requests, most requests first. Reads the records. */
export async function readMetadataGroups(
  em: EntityManager,
  selection: Selection,
  key: string,
  page: Page,
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
       select u.value, count(*)::float8 as requests, sum(u.cost_nano)::float8 as cost_nano, sum(u.tokens)::float8 as tokens,
         max(u.created_at) as last_at,
         count(*) filter (where exists (select from feedbacks f where f.organisation_id = ?
           and f.workspace_id = u.workspace_id and f.trace_id = u.trace_id))::float8 as rated
       from used u group by 1)
     select c.*, coalesce(r.points / nullif(r.weight, 0), 0)::float8 as feedback, count(*) over ()::float8 as total
     from counted c left join rated r using (value) order by c.requests desc, c.value limit ? offset ?`,
    [
      ...[key, ...values, key, selection.organisationId, selection.organisationId],
      ...[page.page_size, page.current_page * page.page_size],
    ],
  );
  if (rows.length > 0 || page.current_page === 0) return { total: rows[0]?.total ?? 0, rows };
  return { total: (await readMetadataGroups(em, selection, key, { current_page: 0, page_size: 1 })).total, rows };
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
