import * as v from 'valibot';
import { findVisibleWorkspace } from '../../access/visible-workspaces.ts';
import { findPage } from '../../db/find-page.ts';
import { notFound } from '../../http/errors.ts';
import { emptyReply, listOf, nullableText, time } from '../../http/reply/reply-schemas.ts';
import { pageEntries, pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { cachedReplies } from './entity.ts';
import { matching, purgeEntry, purgeMatching, purgeWorkspace } from './purge.ts';
import { sumOf } from './sum.ts';

const nothing = v.strictObject({});
const label = v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters')));
/** Labels as entries show them. */
const filterEntries = { namespace: label, model: label };

const contents = v.strictObject({
  object: v.literal('cache'),
  workspace_id: v.string(),
  entries: v.number(),
  /** Bytes of the stored replies, as they are sealed. */
  bytes: v.number(),
  oldest_at: v.nullable(v.string()),
  newest_at: v.nullable(v.string()),
});

const entry = v.strictObject({
  object: v.literal('cache-entry'),
  id: v.string(),
  /** Value of the namespace header; null for entries that are kept apart by metadata. */
  namespace: nullableText,
  model: nullableText,
  /** Name of the endpoint, such as `chatComplete`. */
  endpoint: nullableText,
  /** True if requests with a similar text find the entry. */
  is_semantic: v.boolean(),
  /** Bytes of the stored reply, as it is sealed. */
  bytes: v.number(),
  created_at: time,
  expires_at: time,
});

const listed = ['digest', 'namespace', 'model', 'endpoint', 'partition', 'bytes', 'createdAt', 'expiresAt'] as const;
const shared = { tenant: 'either', resource: 'workspaces', body: null } as const;

/** Routes of the cache of a workspace, under `/admin/workspaces` and `/workspaces`. Replies are sealed: routes show their labels only. */
export const cachedReplyRoutes: readonly AdminRoute[] = ['/admin/workspaces', '/workspaces'].flatMap((path) => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${path}/:workspaceId/cache`,
    scopes: ['workspaces.read'],
    action: 'read-cache',
    summary: 'Read how many replies the shared cache of a workspace holds',
    reply: contents,
    query: nothing,
    async handle(call) {
      const { id } = await findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
      return { object: 'cache' as const, workspace_id: id, ...(await sumOf(call.em, id, call.services.clock.now())) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${path}/:workspaceId/cache`,
    hasNoVersion: true,
    scopes: ['workspaces.update'],
    action: 'purge-cache',
    summary: 'Purge the cache of a workspace in all gateways, or one namespace or model of it',
    reply: emptyReply,
    query: v.strictObject(filterEntries),
    async handle(call) {
      await call.write(async (change) => {
        const { id } = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        if (Object.keys(matching(call.query)).length === 0) await purgeWorkspace(change, id);
        else await purgeMatching(change, id, call.query);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${path}/:workspaceId/cache/entries`,
    scopes: ['workspaces.read'],
    action: 'list-cache',
    summary: 'List the entries in the shared cache of a workspace, newest first',
    reply: listOf(entry),
    query: v.strictObject({ ...pageEntries, ...filterEntries }),
    async handle(call) {
      const { id: workspaceId } = await findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
      const expiresAt = { $gt: new Date(call.services.clock.now()) };
      const where = { workspaceId, expiresAt, ...matching(call.query) };
      const [rows, total] = await findPage(call.em, cachedReplies, where, {
        ...pageOf(call.query),
        fields: listed,
        orderBy: { createdAt: 'desc', digest: 'asc' },
      });
      return { object: 'list' as const, total, data: rows.map(toEntry) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${path}/:workspaceId/cache/entries/:entryId`,
    hasNoVersion: true,
    scopes: ['workspaces.update'],
    action: 'purge-cache-entry',
    summary: 'Purge one entry of the cache of a workspace in all gateways',
    reply: emptyReply,
    query: nothing,
    async handle(call) {
      await call.write(async (change) => {
        const { id } = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        if (!(await purgeEntry(change, id, call.params.entryId ?? ''))) throw notFound('Cache entry');
      });
      return {};
    },
  }),
]);

interface Row {
  readonly digest: string;
  readonly namespace?: string | null;
  readonly model?: string | null;
  readonly endpoint?: string | null;
  readonly partition?: string | null;
  readonly bytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

function toEntry(row: Row): v.InferInput<typeof entry> {
  return {
    object: 'cache-entry',
    id: row.digest,
    namespace: row.namespace ?? null,
    model: row.model ?? null,
    endpoint: row.endpoint ?? null,
    is_semantic: (row.partition ?? null) !== null,
    bytes: row.bytes,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}
