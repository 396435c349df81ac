import type { Actor } from '../http/caller/actor.ts';
import type { ApiKey } from '../resources/api-keys/entity.ts';

/** The actor for an API key with these scopes. */
export function actorOfKey(row: ApiKey, scopes: readonly string[]): Actor {
  return {
    keyId: row.id,
    type: row.type,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? null,
    userId: row.userId ?? null,
    scopes: new Set(scopes),
    // The key of the first start belongs to the operator of this installation.
    actsAsOwner: row.type === 'organisation-service' && row.creationMode === 'auto',
  };
}
