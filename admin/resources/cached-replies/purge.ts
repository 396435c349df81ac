import type { Change } from '../../publish/write-change.ts';
import { cachedReplies } from './entity.ts';

/** Deletes all entries of a workspace. The counter is part of the keys that gateways make, so entries in their memory are no longer found. */
export async function purgeWorkspace(change: Change, workspaceId: string): Promise<void> {
  await change.tx.nativeDelete(cachedReplies, { workspaceId });
  await count(change, workspaceId, 'cache_purges');
}

/** Selects entries of a workspace by their labels. */
export interface CacheFilter {
  readonly namespace?: string | undefined;
  readonly model?: string | undefined;
}

/** Returns the condition on the rows that a filter selects. */
export function matching({ namespace, model }: CacheFilter) {
  return { ...(namespace === undefined ? {} : { namespace }), ...(model === undefined ? {} : { model }) };
}

/** Deletes the entries with these labels. */
export async function purgeMatching(change: Change, workspaceId: string, filter: CacheFilter): Promise<void> {
  await change.tx.nativeDelete(cachedReplies, { workspaceId, ...matching(filter) });
  await count(change, workspaceId, 'cache_generation');
}

/** Deletes one entry. Returns false if there is none of this id. */
export async function purgeEntry(change: Change, workspaceId: string, digest: string): Promise<boolean> {
  const deleted = await change.tx.nativeDelete(cachedReplies, { workspaceId, digest });
  if (deleted > 0) await count(change, workspaceId, 'cache_generation');
  return deleted > 0;
}

/** Increments a counter of the workspace, and publishes its document. */
async function count(change: Change, id: string, column: 'cache_purges' | 'cache_generation'): Promise<void> {
  change.about({ id, workspaceId: id });
  await change.tx.execute(`update workspaces set ${column} = ${column} + 1 where id = ?`, [id]);
  change.emit({ kind: 'workspace', id, op: 'upsert' });
}
