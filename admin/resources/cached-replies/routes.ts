import * as v from 'valibot';
import { findVisibleWorkspace } from '../../access/visible-workspaces.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { cachedReplies } from './entity.ts';

const nothing = v.strictObject({});

const contents = v.strictObject({
  object: v.literal('cache'),
  workspace_id: v.string(),
  entries: v.number(),
  /** Bytes of the stored replies, as they are sealed. */
  bytes: v.number(),
  oldest_at: v.nullable(v.string()),
  newest_at: v.nullable(v.string()),
});

/** Routes of the cache of a workspace, under `/admin/workspaces` and `/workspaces`. */
export const cachedReplyRoutes: readonly AdminRoute[] = ['/admin/workspaces', '/workspaces'].flatMap((path) => [
  defineRoute({
    method: 'GET',
    path: `${path}/:workspaceId/cache`,
    scopes: ['workspaces.read'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'read-cache',
    summary: 'Read how many replies the shared cache of a workspace holds',
    reply: contents,
    query: nothing,
    body: null,
    async handle(call) {
      const { id } = await findVisibleWorkspace(call.em, call.actor, call.params.workspaceId ?? '');
      return { object: 'cache' as const, workspace_id: id, ...(await sumOf(call.em, id, call.services.clock.now())) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:workspaceId/cache`,
    scopes: ['workspaces.update'],
    tenant: 'either',
    resource: 'workspaces',
    action: 'purge-cache',
    summary: 'Purge the cache of a workspace in all gateways',
    reply: nothing,
    query: nothing,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const { id } = await findVisibleWorkspace(change.tx, call.actor, call.params.workspaceId ?? '');
        change.about(id);
        await change.tx.nativeDelete(cachedReplies, { workspaceId: id });
        // The number is part of the keys that gateways make, so entries in their memory are no longer found.
        await change.tx.execute('update workspaces set cache_purges = cache_purges + 1 where id = ?', [id]);
        change.emit({ kind: 'workspace', id, op: 'upsert' });
      });
      return {};
    },
  }),
]);

interface Sum {
  readonly entries: number;
  readonly bytes: number;
  readonly oldest_at: string | null;
  readonly newest_at: string | null;
}

async function sumOf(em: EntityManager, workspaceId: string, nowMs: number): Promise<Sum> {
  type Row = { entries: string; bytes: string | null; oldest: Date | string | null; newest: Date | string | null };
  const [row] = await em.execute<Row[]>(
    `select count(*) as entries, sum(bytes) as bytes, min(created_at) as oldest, max(created_at) as newest
       from cached_replies where workspace_id = ? and expires_at > ?`,
    [workspaceId, new Date(nowMs)],
  );
  const iso = (at: Date | string | null | undefined) => (at ? new Date(at).toISOString() : null);
  return {
    entries: Number(row?.entries ?? 0),
    bytes: Number(row?.bytes ?? 0),
    oldest_at: iso(row?.oldest),
    newest_at: iso(row?.newest),
  };
}
