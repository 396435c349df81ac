import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { Dimension } from '../../analytics/dimensions.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import { cacheSummary, graphs, nanoPerCent, ratio } from './graphs.ts';
import { columnsOf, type Group, type GroupBy, groupings } from './groups.ts';
import { type MetadataOrder, type MetadataRow, metadataOrders } from './metadata-groups.ts';
import { rangeOf } from './range.ts';
import {
  type ColumnName,
  cacheSummaryReply,
  filterQuery,
  type GraphName,
  graphReplies,
  graphsOfClients,
  groupQuery,
  groupsReply,
  metadataReply,
  modelsReply,
  usersReply,
} from './schema.ts';
import type { Selection } from './source.ts';
import { type UsageStore, usageStoreOf } from './usage-store.ts';
import { visibilityOf } from './visibility.ts';

const shared = {
  method: 'GET',
  scopes: ['analytics.view'],
  tenant: 'either',
  resource: 'analytics',
  action: 'view',
  deletedToo: true,
  body: null,
} as const;

const graphPaths: readonly (readonly [string, GraphName])[] = [
  ...(Object.keys(graphReplies) as GraphName[]).map((name) => [name, name] as const),
  ...Object.entries(graphsOfClients),
];

/** Routes of analytics. */
export const analyticsRoutes: readonly AdminRoute[] = [
  ...graphPaths.map(([path, name]) =>
    defineRoute({
      ...shared,
      path: `/analytics/graphs/${path}`,
      ...(path === name ? {} : { isAlias: true as const }),
      summary: `Chart: ${name.replaceAll(/[/-]/g, ' ')}`,
      reply: graphReplies[name],
      query: filterQuery,
      async handle(call) {
        return {
          ...(await graphs[name]({ em: call.em, store: storeOf(call) }, await selectionOf(call))),
          object: 'analytics-graph',
        };
      },
    }),
  ),
  defineRoute({
    ...shared,
    path: '/analytics/summary/cache',
    summary: 'Figures of cached replies',
    reply: cacheSummaryReply,
    query: filterQuery,
    async handle(call) {
      return { summary: await cacheSummary(storeOf(call), await selectionOf(call)), object: 'analytics-summary' };
    },
  }),
  defineRoute({
    ...shared,
    path: '/analytics/groups/users',
    summary: 'Requests and cost of each user (_user of the metadata)',
    reply: usersReply,
    query: groupQuery,
    async handle(call) {
      const selection = await selectionOf(call, { usesMetadata: true });
      const { total, groups } = await storeOf(call).groups(selection, ['end_user'], {
        page: pageFor(call),
        columns: userColumns,
        isKnown: true,
      });
      const data = groups.map((group) => ({ user: group.values[0], ...columnsOf(group, userColumns), ...mark }));
      return { object: 'list', total, data };
    },
  }),
  defineRoute({
    ...shared,
    path: '/analytics/groups/ai-models',
    summary: 'Requests of each model',
    reply: modelsReply,
    query: groupQuery,
    async handle(call) {
      const { total, groups } = await storeOf(call).groups(await selectionOf(call), ['model'], {
        page: pageFor(call),
        columns: modelColumns,
      });
      const data = groups.map((group) => ({ ai_model: group.values[0], ...columnsOf(group, modelColumns), ...mark }));
      return { object: 'list', total, data };
    },
  }),
  ...['/analytics/groups/metadata/:metadataKey', '/analytics/metadata/:metadataKey'].map((path) =>
    defineRoute({
      ...shared,
      path,
      summary: 'Figures of each value of a metadata key',
      reply: metadataReply,
      query: groupQuery,
      async handle(call) {
        const selection = await selectionOf(call, { usesMetadata: true });
        const page = { ...pageFor(call), orderBy: metadataOrderOf(call.query) };
        const { total, rows } = await storeOf(call).metadataGroups(selection, call.params.metadataKey ?? '', page);
        return { object: 'list', total, data: rows.map(toMetadataGroup) };
      },
    }),
  ),
  ...['/analytics/groups/workspaces', '/analytics/groups/:groupBy'].map((path) =>
    defineRoute({
      ...shared,
      path,
      summary: path.endsWith('workspaces')
        ? 'Figures of each workspace'
        : `Figures by ${Object.keys(groupings).join(', ')}, or by up to three of them`,
      reply: groupsReply,
      query: groupQuery,
      async handle(call) {
        const names = groupBysOf(call.params.groupBy ?? 'workspace');
        const selection = await selectionOf(call);
        const by = names.flatMap((name): readonly Dimension[] => groupings[name]);
        const columns = columnsFor(call.query);
        const { total, groups } = await storeOf(call).groups(selection, [...new Set(by)], { page: pageFor(call), columns });
        const nameOf = await namesOf(call.em, selection, names, groups);
        const data = groups.map((group) => ({ ...nameOf(group), ...columnsOf(group, columns), ...mark }));
        return { object: 'list', total, data };
      },
    }),
  ),
];

/** Columns of the groups of users, and of models. */
const userColumns = ['requests', 'cost'] as const;
const modelColumns = ['requests'] as const;
const mark = { object: 'analytics-group' } as const;

const storeOf = ({ services, em }: Pick<FilterCall, 'services' | 'em'>): UsageStore => usageStoreOf(services, em);

function toMetadataGroup(row: MetadataRow) {
  return {
    metadata_value: row.value,
    requests: row.requests,
    cost: row.cost_nano / nanoPerCent,
    avg_tokens: ratio(row.tokens, row.requests),
    avg_weighted_feedback: row.feedback,
    requests_with_feedback: row.rated,
    last_seen: new Date(row.last_at).toISOString(),
    ...mark,
  };
}

type FilterCall = Pick<
  AdminCall<v.InferOutput<typeof filterQuery>, unknown>,
  'em' | 'actor' | 'organisationId' | 'workspaceId' | 'query' | 'services'
>;

/** Reads the filters of a request. Throws AB03 if the caller may not use metadata and the request does. */
async function selectionOf(call: FilterCall, { usesMetadata = false } = {}): Promise<Selection> {
  const { organisationId, workspaceId, query } = call;
  const visible = await visibilityOf(call.em, call.actor, workspaceId);
  if (!visible.metadata && (usesMetadata || query.metadata !== undefined))
    throw forbidden('metadata: your role does not allow reading the metadata of requests');
  return {
    organisationId,
    workspaceId,
    filters: query,
    ofUser: visible.ofUser,
    range: rangeOf(query, call.services.clock.now()),
  };
}

type GroupQuery = v.InferOutput<typeof groupQuery>;

function pageFor({ query }: { readonly query: GroupQuery }) {
  const { order, order_by_type: orderByType } = query;
  if (order !== undefined && orderByType !== undefined && order !== orderByType)
    throw invalid('order_by_type: must equal order. Send one of them');
  return { ...pageOf(query), orderBy: query.order_by ?? 'requests', order: order ?? orderByType ?? 'desc' };
}

function metadataOrderOf({ order_by: orderBy = 'requests' }: GroupQuery): MetadataOrder {
  if (!Object.hasOwn(metadataOrders, orderBy))
    throw invalid(`order_by: ${Object.keys(metadataOrders).join(', ')}: groups of metadata are sorted by one of these`);
  return orderBy as MetadataOrder;
}

function columnsFor({ columns }: GroupQuery): readonly ColumnName[] {
  return ['requests', ...(columns ?? ['cost', 'total_tokens'])];
}

/** Splits `api_key,model`. Throws AB01 for other names. */
function groupBysOf(text: string): GroupBy[] {
  const names = [...new Set(text.split(','))];
  const known = Object.keys(groupings);
  if (names.length > 3 || !names.every((name) => known.includes(name)))
    throw invalid(`groupBy: up to three of ${known.join(', ')}, separated by commas, are expected`);
  return names as GroupBy[];
}

/** Returns a function that names a group: ids of API keys with their names, workspaces by slug. */
async function namesOf(em: EntityManager, { organisationId }: Selection, names: readonly GroupBy[], groups: readonly Group[]) {
  const columns = [...new Set(names.flatMap((name): readonly Dimension[] => groupings[name]))];
  const valueIn = (group: Group, column: Dimension) => group.values[columns.indexOf(column)] ?? null;
  const idsOf = (column: Dimension) => {
    const ids = columns.includes(column) ? groups.map((group) => valueIn(group, column)) : [];
    return { $in: ids.filter((id) => typeof id === 'string').filter(isUuid) };
  };
  const keys = new Map((await em.find(apiKeys, { organisationId, id: idsOf('api_key_id') })).map(({ id, name }) => [id, name]));
  const found = await em.find(workspaces, { organisationId, id: idsOf('workspace_id') });
  const slugs = new Map(found.map(({ id, slug }) => [id, slug]));
  const wire: Readonly<Record<GroupBy, (group: Group) => Readonly<Record<string, string | number | null>>>> = {
    ai_service: (group) => ({ ai_service: valueIn(group, 'provider') }),
    model: (group) => ({ model: valueIn(group, 'model'), ai_service: valueIn(group, 'provider') }),
    status_code: (group) => ({ status_code: valueIn(group, 'status') }),
    api_key: (group) => {
      const id = valueIn(group, 'api_key_id');
      return { api_key: id, api_key_name: keys.get(String(id)) ?? null };
    },
    config: (group) => ({ config: valueIn(group, 'config_slug') }),
    workspace: (group) => {
      const id = valueIn(group, 'workspace_id');
      return { workspace: slugs.get(String(id)) ?? id };
    },
    provider: (group) => ({ provider: valueIn(group, 'provider_slug') }),
    prompt: (group) => ({ prompt: valueIn(group, 'prompt_slug') }),
    prompt_version: (group) => ({ prompt: valueIn(group, 'prompt_slug'), prompt_version: valueIn(group, 'prompt_version') }),
  };
  return (group: Group) => Object.assign({}, ...names.map((name) => wire[name](group)));
}
