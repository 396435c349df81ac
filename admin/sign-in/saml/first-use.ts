import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { hashOf } from '../../identity/one-time-secret.ts';
import type { SsoConnection } from '../../resources/sso-connections/entity.ts';

/** Stores the id of a message of a provider, so that all processes accept it once. Returns false if it was used. */
export async function isFirstUse(
  tx: EntityManager,
  { id: connectionId, organisationId }: Pick<SsoConnection, 'id' | 'organisationId'>,
  messageId: string,
  expiresAtMs: number,
): Promise<boolean> {
  const rows = await tx.execute<unknown[]>(
    `insert into saml_assertions (connection_id, assertion_hash, organisation_id, expires_at) values (?, ?, ?, ?)
     on conflict do nothing returning 1`,
    // A day more than any clock skew.
    [connectionId, hashOf(messageId), organisationId, new Date(expiresAtMs + dayMs)],
  );
  return rows.length > 0;
}
