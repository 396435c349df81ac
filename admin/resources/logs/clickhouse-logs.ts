import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { recordTable } from '../../analytics/clickhouse/record-table.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type ClickHouseText, clickhouseConditions, timeIn } from './clickhouse-conditions.ts';
import type { StoredRecord } from './entity.ts';
import { type GroupBy, type GroupColumn, type LogGrouping, toGroup } from './groups.ts';
import { positionOf, toPage } from './list-logs.ts';
import type { LogStore } from './log-store.ts';

/** Copies of a record that was stored again are merged when they are read. Copies of one record are in the same partition. */
export const recordsFrom = `${recordTable} final`;

/** Reads records from ClickHouse. `em` is the database with workspaces and feedback. */
export function clickhouseLogs(clickhouse: ClickHouse, em: EntityManager): LogStore {
  const list: LogStore['list'] = async (query, { size, offset, after }) => {
    const text = await clickhouseConditions(em, query);
    if (after !== null) {
      const { createdAt, id } = positionOf(after);
      text.add(`(created_at, id) < (${timeIn(text, createdAt)}, ${text.value('UUID', id)})`);
    }
    const found = await clickhouse.query<Row>(
      `select record, cost, price_source, saved from ${recordsFrom} where ${text.where}
       order by created_at desc, id desc limit ${text.value('UInt32', size + 1)} offset ${text.value('UInt32', offset)}`,
      text.parameters,
    );
    return toPage(found.map(toStored), size);
  };
  const count: LogStore['count'] = async (query, max) => {
    const text = await clickhouseConditions(em, query);
    const limit = max === undefined ? '' : `limit ${text.value('UInt64', max)}`;
    return countOf(
      await clickhouse.query<Count>(
        `select count() as count from (select 1 from ${recordsFrom} where ${text.where} ${limit})`,
        text.parameters,
      ),
    );
  };
  return {
    list,
    listInTime: list,
    // Bodies are in another store.
    listWithContents: list,
    count,
    countInTime: (query) => count(query),
    async groups(query, by, { columns, limit, offset }) {
      const text = await clickhouseConditions(em, query);
      const rows = await clickhouse.query<Record<string, unknown>>(
        `select toString(assumeNotNull(${groupValue(by, text)})) as value, count() as requests
           ${columns.map((column) => `, ${groupColumns[column]} as ${column}`).join('')}
         from ${recordsFrom} where ${text.where} and ${hasValue(by, text)}
         group by value order by count() desc, value
         limit ${text.value('UInt64', limit)} offset ${text.value('UInt64', offset)}`,
        text.parameters,
      );
      return rows.map((row) => toGroup(row, columns));
    },
    async countGroups(query, by) {
      const text = await clickhouseConditions(em, query);
      return countOf(
        await clickhouse.query<Count>(
          `select uniqExact(assumeNotNull(${groupValue(by, text)})) as count from ${recordsFrom} where ${text.where} and ${hasValue(by, text)}`,
          text.parameters,
        ),
      );
    },
    async metadataKeys(query, limit) {
      const text = await clickhouseConditions(em, query);
      const rows = await clickhouse.query<Record<string, unknown>>(
        `select arrayJoin(mapKeys(metadata)) as value, count() as requests from ${recordsFrom} where ${text.where}
         group by value order by count() desc, value limit ${text.value('UInt64', limit)}`,
        text.parameters,
      );
      return rows.map((row) => toGroup(row, []));
    },
  };
}

interface Row {
  readonly record: string;
  readonly cost: number | null;
  readonly price_source: string | null;
  readonly saved: number | null;
}

interface Count {
  readonly count: number;
}

const countOf = (rows: readonly Count[]): number => Number(rows[0]?.count ?? 0);

function toStored({ record: text, cost, price_source, saved }: Row): StoredRecord {
  const record = JSON.parse(text) as RequestRecord;
  const { id, organisationId, workspaceId, traceId, status, outcome, provider, providerSlug, model, configSlug, apiKeyId } =
    record;
  return {
    ...{ id, organisationId, workspaceId, traceId, status, outcome, provider, providerSlug, model, configSlug, apiKeyId },
    createdAt: new Date(record.createdAt),
    costMicroUsd: cost === null ? null : Math.floor(cost / 1_000),
    costNanoRest: cost === null ? 0 : cost % 1_000,
    ...{ priceSource: price_source, savedNano: saved },
    ...{ record, checkpoint: record.checkpoint ?? null },
  };
}

const properties: Readonly<Record<GroupBy, string>> = {
  ai_service: 'provider',
  model: 'model',
  status_code: 'status',
  api_key: 'api_key_id',
  config: 'config_slug',
  workspace: 'workspace_id',
  provider: 'provider_slug',
  prompt: 'prompt_slug',
  prompt_version: "concat(prompt_slug, '@', toString(prompt_version))",
};

function groupValue(by: LogGrouping, text: ClickHouseText): string {
  return 'property' in by ? properties[by.property] : `metadata[${text.value('String', by.metadataKey)}]`;
}

function hasValue(by: LogGrouping, text: ClickHouseText): string {
  if ('property' in by) return `${properties[by.property]} is not null`;
  return `mapContains(metadata, ${text.value('String', by.metadataKey)})`;
}

const tokens = '(input_tokens + output_tokens)';
const groupColumns: Readonly<Record<GroupColumn, string>> = {
  cost: 'sum(ifNull(cost, 0)) / 10000000',
  total_tokens: `sum(${tokens})`,
  avg_tokens: `avg(${tokens})`,
  avg_input_tokens: 'avg(input_tokens)',
  avg_output_tokens: 'avg(output_tokens)',
  avg_latency: 'avg(duration_ms)',
  p95_latency: 'quantileExactInclusive(0.95)(duration_ms)',
  p99_latency: 'quantileExactInclusive(0.99)(duration_ms)',
  success_rate: "100 * countIf(outcome in ('success', 'open')) / count()",
  error_count: "countIf(outcome not in ('success', 'open'))",
  cache_hit_rate: '100 * sum(cache_hits) / count()',
  last_seen: 'toUnixTimestamp64Milli(max(created_at))',
  first_seen: 'toUnixTimestamp64Milli(min(created_at))',
};
