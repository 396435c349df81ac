import * as v from 'valibot';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import { time } from '../../http/reply/reply-schemas.ts';
import { pageEntries, pageOf, queryFlag, tenantEntries } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { logFilterEntries } from './filters.ts';
import { type GroupColumn, groupColumns, groupNames, type LogGrouping } from './groups.ts';
import { logStoreOf } from './log-store.ts';
import { logVisibility } from './log-visibility.ts';
import { type LogQuery, matchingLogs } from './seen-logs.ts';

const columnNames = Object.keys(groupColumns) as GroupColumn[];

/** Default of `time_of_generation_min`: groups read every matching record. */
const defaultDays = 7;
const keysMax = 1_000;

const columns = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => [...new Set(text.split(',').map((name) => name.trim()))]),
    v.array(v.picklist(columnNames, `one of ${columnNames.join(', ')} is expected`)),
  ),
  'cost,total_tokens,last_seen',
);

const valuesQuery = v.strictObject({ ...tenantEntries, ...pageEntries, ...logFilterEntries });
const query = v.strictObject({ ...valuesQuery.entries, columns, include_total: queryFlag });
type Call<Query = v.InferOutput<typeof query>> = AdminCall<Query, undefined>;

const shared = {
  method: 'GET',
  scopes: ['logs.list', 'logs.view', 'analytics.view'],
  tenant: 'either',
  resource: 'logs',
  action: 'list',
  query,
  body: null,
} as const;

const numbers = Object.fromEntries(columnNames.map((name) => [name, v.optional(name.endsWith('_seen') ? time : v.number())]));
const object = v.literal('list');
const reply = v.strictObject({
  object,
  /** False: groups have no quota. */
  is_quota_exceeded: v.literal(false),
  /** Null unless `include_total=true`. */
  total: v.nullable(v.number()),
  data: v.array(v.strictObject({ value: v.string(), requests: v.number(), ...numbers, object: v.literal('log-group') })),
});
const valuesReply = v.strictObject({ object, data: v.array(v.strictObject({ value: v.string(), requests: v.number() })) });

/** Routes that group logs. Without `time_of_generation_min` they read the last seven days. */
export const logGroupRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    path: '/logs/groups/metadata/:metadataKey',
    summary: 'Group logs by the values of a metadata key',
    reply,
    handle: async (call) => group(call, await queryOf(call, true), byMetadata(call.params.metadataKey ?? '')),
  }),
  defineRoute({
    ...shared,
    path: '/logs/groups/:groupBy',
    summary: `Group logs by ${groupNames.join(', ')}`,
    reply,
    async handle(call) {
      const name = groupNames.find((each) => each === call.params.groupBy);
      if (name === undefined) throw invalid(`groupBy: one of ${groupNames.join(', ')} is expected in the path`);
      return group(call, await queryOf(call, false), { property: name });
    },
  }),
  defineRoute({
    ...shared,
    path: '/logs/metadata',
    summary: 'List the metadata keys of logs, the most frequent first',
    query: valuesQuery,
    reply: valuesReply,
    async handle(call) {
      const { limit, offset } = pageOf(call.query);
      const all = await logStoreOf(call.services, call.em).metadataKeys(await queryOf(call, true), keysMax);
      return { object: 'list', data: all.slice(offset, offset + limit) };
    },
  }),
  defineRoute({
    ...shared,
    path: '/logs/metadata/:metadataKey',
    summary: 'List the values of a metadata key, the most frequent first',
    query: valuesQuery,
    reply: valuesReply,
    async handle(call) {
      const by = byMetadata(call.params.metadataKey ?? '');
      const page = { ...pageOf(call.query), columns: [] };
      const store = logStoreOf(call.services, call.em);
      return { object: 'list', data: await store.groups(await queryOf(call, true), by, page) };
    },
  }),
];

async function group(call: Call, selected: LogQuery, by: LogGrouping) {
  const store = logStoreOf(call.services, call.em);
  const rows = await store.groups(selected, by, { ...pageOf(call.query), columns: call.query.columns });
  const total = call.query.include_total === 'true' ? await store.countGroups(selected, by) : null;
  return { object: 'list', is_quota_exceeded: false, total, data: rows.map((row) => ({ ...row, object: 'log-group' })) };
}

/** Throws AB03 if metadata is read by a caller who must not see it. */
async function queryOf(call: Call<v.InferOutput<typeof valuesQuery>>, readsMetadata: boolean): Promise<LogQuery> {
  const sight = await logVisibility(call.em, call.actor, call.workspaceId);
  if (readsMetadata && !sight.metadata) throw forbidden('Your role does not allow reading metadata of requests');
  const least = call.query.time_of_generation_min ?? new Date(call.services.clock.now() - defaultDays * dayMs);
  return matchingLogs(call, sight, { ...call.query, time_of_generation_min: least });
}

function byMetadata(key: string): LogGrouping {
  if (key.length > 128) throw invalid('metadataKey: at most 128 characters');
  return { metadataKey: key };
}
