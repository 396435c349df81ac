import type { Change } from '../../publish/write-change.ts';
import { cachedReplies } from './entity.ts';

/** Deletes all entries of a workspace. The counter is part of the keys that gateways make, so entries in their memory are no longer found. */
export async function purgeWorkspace(change: Change, workspaceId: string): Promise<void> {
  await change.tx.nativeDelete(cachedReplies, { workspaceId });
  await count(change, workspaceId, 'cache_purges');
}

/** Deletes the entries of a namespace. */
export async function purgeNamespace(change: Change, workspaceId: string, namespace: string): Promise<void> {
  await change.tx.nativeDelete(cachedReplies, { workspaceId, namespace });
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
