import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden } from '../../http/errors.ts';
import { visibilityOf } from '../analytics/visibility.ts';
import { apiKeys } from '../api-keys/entity.ts';
import type { UsagePolicyRow } from './entity.ts';

/**
 * Applies the security settings about data and metadata to the counters of a policy. A user who sees only data of their own keys sees the
 * counters of these keys. Throws AB03 if value keys contain metadata that the actor may not read.
 */
export async function seenCounters(
  em: EntityManager,
  actor: Actor,
  { organisationId, workspaceId, groupBy }: UsagePolicyRow,
): Promise<{ readonly ofKeys: readonly string[] | null }> {
  const { ofUser, metadata } = await visibilityOf(em, actor, workspaceId);
  if (!metadata && groupBy.some(({ key }) => key.startsWith('metadata.'))) {
    throw forbidden('value_key: your role does not allow reading the metadata of requests');
  }
  if (ofUser === null) return { ofKeys: null };
  const keys = await em.find(apiKeys, { organisationId, userId: ofUser }, { fields: ['id'] });
  return { ofKeys: keys.map(({ id }) => id) };
}
