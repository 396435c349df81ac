import type { BinCount } from '../../analytics/latency-bins.ts';
import { measureNames } from '../../analytics/measures.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { type ClickHouseText, clickhouseConditions, timeIn } from '../logs/clickhouse-conditions.ts';
import { recordsFrom } from '../logs/clickhouse-logs.ts';
import { type LogFilters, logFilterEntries } from '../logs/filters.ts';
import { type GroupRow, hasPercentiles, orders, sortedMax, sortedPage, toGroup } from './groups.ts';
import { firstRow, type MetadataRow, metadataOrders } from './metadata-groups.ts';
import type { BucketOf, Totals } from './read-usage.ts';
import { toCounts, type UserCounts } from './read-users.ts';
import type { Selection } from './source.ts';
import type { UsageStore } from './usage-store.ts';

const sums = measureNames.map((name) => `sum(${name}) as ${name}`).join(', ');
const milliseconds = 'toUnixTimestamp64Milli(created_at)';

/** Maximum number of traces with feedback that one query can join with their requests. */
const tracesMax = 10_000;

/** Computes sums from the records in ClickHouse. `em` is the database with workspaces and feedback. */
export function clickhouseUsage(clickhouse: ClickHouse, em: EntityManager): UsageStore {
  return {
    async buckets(selection) {
      const text = await conditionsOf(em, selection);
      const rows = await clickhouse.query<Totals & { bucket: number }>(
        `select ${bucketOf(selection, text)}, ${sums} from ${recordsFrom} where ${text.where} group by bucket`,
        text.parameters,
      );
      return new Map(rows.map((row) => [Number(row.bucket), row]));
    },

    async bucketsBy<Value>(selection: Selection, dimension: string) {
      const text = await conditionsOf(em, selection);
      return clickhouse.query<BucketOf<Value>>(
        `select ${bucketOf(selection, text)}, ${dimension} as value, ${sums} from ${recordsFrom} where ${text.where} group by bucket, value`,
        text.parameters,
      );
    },

    async bins(selection, column) {
      const text = await conditionsOf(em, selection);
      if (column === 'retries') text.add('retries > 0');
      const rows = await clickhouse.query<BinCount & { bucket: number }>(
        `select ${bucketOf(selection, text)}, ${column === 'retries' ? 'retries' : 'latency_bin'} as bin, count() as count
         from ${recordsFrom} where ${text.where} group by bucket, bin`,
        text.parameters,
      );
      return Map.groupBy(rows, (row) => Number(row.bucket));
    },

    async users(selection): Promise<UserCounts> {
      const text = await conditionsOf(em, selection);
      text.add('end_user is not null');
      const rows = await clickhouse.query<{ bucket: number | null; users: number; requests: number }>(
        `select ${bucketOf(selection, text)}, uniqExact(end_user) as users, count() as requests from ${recordsFrom}
         where ${text.where} group by grouping sets ((bucket), ()) settings group_by_use_nulls = 1`,
        text.parameters,
      );
      return toCounts(rows);
    },

    async groups(selection, by, { page, columns, isKnown = false }) {
      const text = await conditionsOf(em, selection);
      if (isKnown) text.add(`${by[0]} is not null`);
      const order = orders[page.orderBy];
      const [limit, offset] = order === null ? [sortedMax, 0] : [page.limit, page.offset];
      const names = by.map((_, at) => `v${at}`);
      const bins = hasPercentiles([...columns, page.orderBy]) ? ', sumMap(map(latency_bin, toUInt64(1))) as bins' : '';
      const rows = await clickhouse.query<GroupRow>(
        `select g.*, count() over () as total from (
           select ${by.map((name, at) => `${name} as v${at}`).join(', ')}, ${sums}, toUnixTimestamp64Milli(min(created_at)) as first_at,
             toUnixTimestamp64Milli(max(created_at)) as last_at${bins}
           from ${recordsFrom} where ${text.where} group by ${names.join(', ')}) g
         order by ${order === null ? '' : `${order} ${page.order}, `}${names.map((name) => `${name} asc nulls last`).join(', ')}
         limit ${text.value('UInt64', limit)} offset ${text.value('UInt64', offset)}`,
        text.parameters,
      );
      if (rows.length === 0 && offset > 0) {
        const first = { page: { ...page, limit: 1, offset: 0 }, columns: [], isKnown };
        return { total: (await this.groups(selection, by, first)).total, groups: [] };
      }
      const groups = rows.map((row) => toGroup(row, names));
      return { total: rows[0]?.total ?? 0, groups: order === null ? sortedPage(groups, page) : groups };
    },

    async metadataGroups(selection, key, page) {
      const text = await conditionsOf(em, selection);
      const name = text.value('String', key);
      text.add(`mapContains(metadata, ${name})`);
      const counted = `select metadata[${name}] as value, count() as requests, sum(cost_nano) as cost_nano,
          sum(input_tokens + output_tokens) as tokens, toUnixTimestamp64Milli(max(created_at)) as last_at
        from ${recordsFrom} where ${text.where} group by value`;
      const rows = await clickhouse.query<MetadataRow & { total: number }>(
        `select *, count() over () as total from (${counted}) order by ${metadataOrders[page.orderBy]} ${page.order} nulls last, value
         limit ${text.value('UInt64', page.limit)} offset ${text.value('UInt64', page.offset)}`,
        text.parameters,
      );
      if (rows.length === 0 && page.offset > 0) {
        const first = await this.metadataGroups(selection, key, { ...page, ...firstRow });
        return { total: first.total, rows: [] };
      }
      const rated = await ratedTraces(em, selection);
      const used = await clickhouse.query<{ value: string; trace: string; requests: number }>(
        `select metadata[${name}] as value, ${traceName} as trace, count() as requests from ${recordsFrom}
         where ${text.where} and trace in ${text.value('Array(String)', [...rated.keys()])} group by value, trace`,
        text.parameters,
      );
      const byValue = Map.groupBy(used, ({ value }) => value);
      const data = rows.map((row) => {
        const traces = byValue.get(row.value) ?? [];
        const sumOf = (part: 'points' | 'weight') => traces.reduce((sum, { trace }) => sum + (rated.get(trace)?.[part] ?? 0), 0);
        const weight = sumOf('weight');
        const requests = traces.reduce((sum, one) => sum + one.requests, 0);
        return { ...row, rated: requests, feedback: weight === 0 ? 0 : sumOf('points') / weight };
      });
      return { total: rows[0]?.total ?? 0, rows: data };
    },

    async traces(selection) {
      if (!isFiltered(selection)) return null;
      const text = await clickhouseConditions(em, queryOf(selection));
      const traces = await tracesWithFeedback(em, selection);
      const rows = await clickhouse.query<{ trace: string }>(
        `select distinct ${traceName} as trace from ${recordsFrom}
         where ${text.where} and trace in ${text.value('Array(String)', traces)}`,
        text.parameters,
      );
      return {
        text: "f.workspace_id || ' ' || f.trace_id in (select jsonb_array_elements_text(?::jsonb))",
        values: [JSON.stringify(rows.map(({ trace }) => trace))],
      };
    },

    async models(selection) {
      const text = await clickhouseConditions(em, { ...queryOf(selection), ofUser: null, filters: {} });
      const traces = await tracesWithFeedback(em, selection);
      const rows = await clickhouse.query(
        `select distinct workspace_id, trace_id, model from ${recordsFrom} where ${text.where} and model is not null
           and ${traceName} in ${text.value('Array(String)', traces)}`,
        text.parameters,
      );
      return {
        text: 'select * from jsonb_to_recordset(?::jsonb) as m(workspace_id uuid, trace_id text, model text)',
        values: [JSON.stringify(rows)],
      };
    },
  };
}

/** Names a trace together with its workspace. */
const traceName = "concat(toString(workspace_id), ' ', trace_id)";

/** Start of the bucket of a record, in milliseconds. */
function bucketOf({ range }: Selection, text: ClickHouseText): string {
  const length = text.value('Int64', range.bucketMs);
  return `intDiv(${milliseconds}, ${length}) * ${length} as bucket`;
}

function queryOf({ organisationId, workspaceId, ofUser, filters }: Selection) {
  const { time_of_generation_min: _, time_of_generation_max: __, ...others } = filters;
  return { organisationId, workspaceId, ofUser, hiddenWorkspaces: [], filters: others };
}

function isFiltered({ ofUser, filters }: Selection): boolean {
  const names = Object.keys(logFilterEntries) as (keyof LogFilters)[];
  return ofUser !== null || names.some((name) => filters[name] !== undefined && !name.startsWith('time_of_generation_'));
}

async function conditionsOf(em: EntityManager, selection: Selection): Promise<ClickHouseText> {
  const text = await clickhouseConditions(em, queryOf(selection));
  const { fromMs, toMs } = selection.range;
  text.add(`created_at >= ${timeIn(text, fromMs)} and created_at < ${timeIn(text, toMs)}`);
  // 0 for records that do not count.
  text.add('requests > 0');
  return text;
}

/** Returns the traces with feedback in the range. Throws AB01 if there are too many. */
async function tracesWithFeedback(em: EntityManager, { organisationId, range }: Selection): Promise<string[]> {
  const rows = await em.execute<{ trace: string }[]>(
    `select distinct f.workspace_id || ' ' || f.trace_id as trace from feedbacks f
     where f.organisation_id = ? and f.created_at >= ? and f.created_at < ? limit ?`,
    [organisationId, new Date(range.fromMs), new Date(range.toMs), tracesMax + 1],
  );
  if (rows.length > tracesMax) throw tooMany();
  return rows.map(({ trace }) => trace);
}

/** Returns the sums of the feedback of each trace since the start of the range. Throws AB01 if there are too many. */
async function ratedTraces(em: EntityManager, { organisationId, range }: Selection) {
  const rows = await em.execute<{ trace: string; points: number; weight: number }[]>(
    `select f.workspace_id || ' ' || f.trace_id as trace, sum(f.value * f.weight)::float8 as points, sum(f.weight)::float8 as weight
     from feedbacks f where f.organisation_id = ? and f.created_at >= ? group by 1 limit ?`,
    [organisationId, new Date(range.fromMs), tracesMax + 1],
  );
  if (rows.length > tracesMax) throw tooMany();
  return new Map(rows.map((row) => [row.trace, row]));
}

const tooMany = () => invalid(`time_of_generation_min: more than ${tracesMax} traces have feedback. Choose a shorter range`);
