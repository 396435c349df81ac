import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { clickhouseLogs } from './clickhouse-logs.ts';
import type { Condition } from './filters.ts';
import { countGroups, type GroupPage, type GroupRow, groupLogs, type LogGrouping, metadataKeys } from './groups.ts';
import { countLogs, type ListedLogs, type LogPage, listLogs } from './list-logs.ts';
import { logConditions } from './log-conditions.ts';
import type { LogQuery } from './seen-logs.ts';

/** Reads records. */
export interface LogStore {
  /** Returns a page of records, newest first. */
  list(query: LogQuery, page: LogPage): Promise<ListedLogs>;
  /** The same, and may leave out records without stored bodies. */
  listWithContents(query: LogQuery, page: LogPage): Promise<ListedLogs>;
  /** Returns the number of records, at most `max`. */
  count(query: LogQuery, max?: number): Promise<number>;
  /** Returns the groups with the most requests. Records without a value are left out. */
  groups(query: LogQuery, by: LogGrouping, page: GroupPage): Promise<GroupRow[]>;
  countGroups(query: LogQuery, by: LogGrouping): Promise<number>;
  /** Returns the metadata keys of records, with the most frequent first. */
  metadataKeys(query: LogQuery, limit: number): Promise<GroupRow[]>;
}

/** Returns the store that ANALYTICS_URL selects: ClickHouse, or the database of `em` if it is unset. */
export function logStoreOf({ clickhouse }: Pick<AdminServices, 'clickhouse'>, em: EntityManager): LogStore {
  return clickhouse === null ? databaseLogs(em) : clickhouseLogs(clickhouse, em);
}

function databaseLogs(em: EntityManager): LogStore {
  return {
    list: (query, page) => listLogs(em, logConditions(query), page),
    listWithContents: (query, page) => listLogs(em, [...logConditions(query), hasContent], page),
    count: (query, max) => countLogs(em, logConditions(query), max),
    groups: (query, by, page) => groupLogs(em, logConditions(query), by, page),
    countGroups: (query, by) => countGroups(em, logConditions(query), by),
    metadataKeys: (query, limit) => metadataKeys(em, logConditions(query), limit),
  };
}

const hasContent: Condition = {
  text: 'exists (select from record_contents c where c.id = r.id and c.created_at = r.created_at)',
  values: [],
};
