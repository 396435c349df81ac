import type { Dimension } from '../../analytics/dimensions.ts';
import type { BinCount } from '../../analytics/latency-bins.ts';
import { readSummedUntil, type SummedUntil } from '../../analytics/sum-days.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Condition } from '../logs/filters.ts';
import { clickhouseUsage } from './clickhouse-usage.ts';
import { modelsOfTraces, tracesOf } from './feedback-traces.ts';
import { type GroupsOptions, type GroupsPage, readGroups } from './groups.ts';
import { type MetadataGroups, type MetadataPage, readMetadataGroups } from './metadata-groups.ts';
import { type BucketOf, readBins, readBuckets, readBucketsBy, type Totals } from './read-usage.ts';
import { readUserCounts, type UserCounts } from './read-users.ts';
import type { DatedSelection, Selection } from './source.ts';

/** Sums over the requests of a selection. Buckets are named by their start in milliseconds. */
export interface UsageStore {
  /** Returns the sums of each bucket with requests. */
  buckets(selection: Selection): Promise<ReadonlyMap<number, Totals>>;
  /** Returns the sums of each bucket and value of a dimension. */
  bucketsBy<Value>(selection: Selection, dimension: Dimension): Promise<readonly BucketOf<Value>[]>;
  /** Returns the number of requests in each bucket and bin of `latency` or `retries`. */
  bins(selection: Selection, column: 'latency' | 'retries'): Promise<ReadonlyMap<number, readonly BinCount[]>>;
  /** Counts the users (`_user` of the metadata) of each bucket and of the range. */
  users(selection: Selection): Promise<UserCounts>;
  /** Returns a page of the groups with requests, and their number. */
  groups(selection: Selection, by: readonly Dimension[], options: GroupsOptions): Promise<GroupsPage>;
  /** Returns a page of the values of a metadata key with the figures of their requests, most requests first. */
  metadataGroups(selection: Selection, key: string, page: MetadataPage): Promise<MetadataGroups>;
  /** Returns a condition on `feedbacks f` of the database: a request of its trace passes the filters. Null: there are none. */
  traces(selection: Selection): Promise<Condition | null>;
  /** Returns rows `m(workspace_id, trace_id, model)` for the database: the models of the traces that have feedback in the range. */
  models(selection: Selection): Promise<Condition>;
}

/** Returns the store that ANALYTICS_URL selects: ClickHouse, or the roll-ups and records in the database of `em` if it is unset. */
export function usageStoreOf({ clickhouse }: Pick<AdminServices, 'clickhouse'>, em: EntityManager): UsageStore {
  return clickhouse === null ? databaseUsage(em) : clickhouseUsage(clickhouse, em);
}

/**
 * Settings of the transactions. Grouping 180,000 roll-ups took 0.6 of the time with them: with 4 MB the database sorts rows on disk instead of
 * hashing them, and compiling a statement takes longer than it saves. Rows of one hour lie on few pages, in another order than in the index:
 * reading each page once (a bitmap scan) took 0.7 to 0.9 of the time.
 */
const variables = { work_mem: '32MB', jit: 'off', enable_indexscan: 'off' };

function databaseUsage(em: EntityManager): UsageStore {
  em.setSessionContext({ variables });
  let until: Promise<SummedUntil> | null = null;
  // Days below this time stay complete, so it may be read before the statement that uses it. As a value, the planner can estimate the rows.
  const dated = async (selection: Selection): Promise<DatedSelection> => {
    until ??= readSummedUntil(em, selection.organisationId);
    return { ...selection, summedUntil: await until };
  };
  return {
    buckets: async (selection) => readBuckets(em, await dated(selection)),
    bucketsBy: async (selection, dimension) => readBucketsBy(em, await dated(selection), dimension),
    bins: async (selection, column) => readBins(em, await dated(selection), column),
    users: async (selection) => readUserCounts(em, await dated(selection)),
    groups: async (selection, by, options) => readGroups(em, await dated(selection), by, options),
    metadataGroups: (selection, key, page) => readMetadataGroups(em, selection, key, page),
    traces: async (selection) => tracesOf(selection),
    models: async (selection) => modelsOfTraces(selection),
  };
}
