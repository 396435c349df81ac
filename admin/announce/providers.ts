import type { Change } from '../publish/write-change.ts';
import { providers } from '../resources/providers/entity.ts';

/** Emits one event per provider of the integration, in one workspace or in all. */
export async function announceProviders(
  change: Change,
  integrationId: string,
  op: 'upsert' | 'delete',
  workspaceId?: string,
): Promise<void> {
  const where = workspaceId === undefined ? { integrationId } : { integrationId, workspaceId };
  for (const provider of await change.tx.find(providers, where, { orderBy: { createdAt: 'asc', id: 'asc' } })) {
    change.emit({ kind: 'provider', id: `${provider.workspaceId}/${provider.slug}`, op });
  }
}
