import { isStatementLate } from '../../database-problem.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { clickhouseLogs } from './clickhouse-logs.ts';
import type { Condition } from './filters.ts';
import { countGroups, type GroupPage, type GroupRow, groupLogs, type LogGrouping, metadataKeys } from './groups.ts';
import { countLogs, type ListedLogs, type LogPage, listLogs } from './list-logs.ts';
import { logConditions } from './log-conditions.ts';
import type { LogQuery } from './seen-logs.ts';
import { walkLogs, withinTime } from './walk-logs.ts';

/** Reads records. */
export interface LogStore {
  /** Returns a page of records, newest first. */
  list(query: LogQuery, page: LogPage): Promise<ListedLogs>;
  /** The same, and the page may end early: it may hold fewer records than its size while `next` is not null. */
  listInTime(query: LogQuery, page: LogPage): Promise<ListedLogs>;
  /** Returns a page as `list` does, and may leave out records without stored bodies. */
  listWithContents(query: LogQuery, page: LogPage): Promise<ListedLogs>;
  /** Returns the number of records, at most `max`. */
  count(query: LogQuery, max?: number): Promise<number>;
  /** Returns the number of records; null: counting them takes longer than `ms` milliseconds. */
  countInTime(query: LogQuery, ms: number): Promise<number | null>;
  /** Returns the groups with the most requests. Records without a value are left out. */
  groups(query: LogQuery, by: LogGrouping, page: GroupPage): Promise<GroupRow[]>;
  countGroups(query: LogQuery, by: LogGrouping): Promise<number>;
  /** Returns the metadata keys of records, with the most frequent first. */
  metadataKeys(query: LogQuery, limit: number): Promise<GroupRow[]>;
}

/** Returns the store that ANALYTICS_URL selects: ClickHouse, or the database of `em` if it is unset. */
export function logStoreOf(services: Services, em: EntityManager): LogStore {
  return services.clickhouse === null ? databaseLogs(services, em) : clickhouseLogs(services.clickhouse, em);
}

type Services = Pick<AdminServices, 'clickhouse' | 'clock' | 'settings'>;

function databaseLogs({ clock, settings }: Services, given: EntityManager): LogStore {
  const em = withoutCompiler(given);
  const isEmbedded = settings.databaseUrl === null;
  return {
    list: (query, page) => listLogs(em, logConditions(query), page),
    listInTime: (query, page) => walkLogs(em, query, page, { isEmbedded, clock }),
    listWithContents: (query, page) => listLogs(em, [...logConditions(query), hasContent], page),
    count: (query, max) => countLogs(em, logConditions(query), max),
    countInTime: (query, ms) => nullIfLate(() => countLogs(withinTime(em, ms), logConditions(query))),
    groups: (query, by, page) => groupLogs(em, logConditions(query), by, page),
    countGroups: (query, by) => countGroups(em, logConditions(query), by),
    metadataKeys: (query, limit) => metadataKeys(em, logConditions(query), limit),
  };
}

/**
 * Statements on many partitions took seconds to compile, longer than to run, and the server does not end a statement while it is compiled.
 * Variables of a transaction that has begun cannot change.
 */
function withoutCompiler(em: EntityManager): EntityManager {
  if (em.isInTransaction()) return em;
  const fork = em.fork();
  fork.setSessionContext({ variables: { jit: 'off' } });
  return fork;
}

async function nullIfLate<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (error) {
    if (isStatementLate(error)) return null;
    throw error;
  }
}

const hasContent: Condition = {
  text: 'exists (select from record_contents c where c.id = r.id and c.created_at = r.created_at)',
  values: [],
};
