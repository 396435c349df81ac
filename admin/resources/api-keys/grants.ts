import { didYouMean } from '../../../config/did-you-mean.ts';
import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import { holdGrantable } from '../../access/may-grant.ts';
import { grantableInWorkspaces, scopesByType } from '../../access/scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { holderOf } from '../../http/caller/require-scope.ts';
import { AdminError, forbidden } from '../../http/errors.ts';
import type { ApiKey } from './entity.ts';

/** Grantor of the scopes of a key, as stored in the row of the key. */
export type Grantor = Pick<ApiKey, 'grantedByKeyId' | 'grantedByUserId'>;

/**
 * Returns the scopes of a new or changed key. Throws AB01 for scopes that keys of its type cannot hold and AB03 for scopes above
 * the creator's own; `path` is their position in the body. Organisation keys cannot call models themselves but may grant the
 * scopes for it.
 */
export function checkScopes(actor: Actor, type: ApiKeyType, asked: readonly string[], path = 'scopes'): string[] {
  const scopes = [...new Set(asked)];
  const possible = scopesByType[type];
  const errors = scopes.flatMap((scope, index) =>
    possible.has(scope) ? [] : [`${path}[${index}]: not a scope of ${type} keys${didYouMean(scope, [...possible])}`],
  );
  if (errors.length > 0) throw new AdminError('AB01', errors[0] ?? '', errors);
  requireGrantable(actor, scopes, grantableBy(actor, type));
  return scopes;
}

function requireGrantable(actor: Actor, scopes: readonly string[], grantable: ReadonlySet<string>): void {
  const above = scopes.filter((scope) => !grantable.has(scope));
  if (above.length > 0)
    throw forbidden(`${holderOf(actor)} cannot grant scopes that it does not have: ${above.slice(0, 10).join(', ')}`);
}

/** A key whose scopes an actor sets. */
type Granted = Pick<ApiKey, 'scopes' | 'workspaceId'>;

/**
 * Locks the key of the actor until the transaction ends, so that its scopes cannot shrink between the check and the commit of the
 * grant. For a session, locks the user's role and the security settings. Throws AB05 if the key is gone, AB03 if the actor has lost scopes
 * since the request began.
 */
export async function holdGrantor(tx: EntityManager, actor: Actor, granted: Granted): Promise<Grantor> {
  if (actor.session) {
    const { organisationId, session } = actor;
    requireGrantable(actor, granted.scopes, await holdGrantable(tx, organisationId, session, granted.workspaceId ?? null));
    return { grantedByKeyId: null, grantedByUserId: actor.session.userId };
  }
  const rows = await tx.execute<{ scopes: string[] }[]>('select scopes from api_keys where id = ? for share', [actor.keyId]);
  const held = rows[0];
  if (!held) throw new AdminError('AB05', 'Invalid API key');
  const now = new Set(held.scopes);
  for (const scope of actor.scopes) if (!now.has(scope)) throw forbidden('This API key has just lost some of its scopes');
  return { grantedByKeyId: actor.keyId, grantedByUserId: null };
}

/**
 * Returns the grantor of a key whose scopes this actor sets. A key that changes itself, or a key that its own grants led to,
 * keeps its grantor: its scopes stay within that grant, and grants must not form a cycle.
 */
export async function grantorOfChange(tx: EntityManager, actor: Actor, row: ApiKey): Promise<Grantor> {
  const grantor = await holdGrantor(tx, actor, row);
  if (grantor.grantedByKeyId === null) return grantor;
  const rows = await tx.execute<unknown[]>(
    `with recursive line as (
       select id, granted_by_key_id from api_keys where id = ?
       union select k.id, k.granted_by_key_id from api_keys k join line on k.id = line.granted_by_key_id
     ) select 1 from line where id = ?`,
    [actor.keyId, row.id],
  );
  return rows.length === 0 ? grantor : { grantedByKeyId: row.grantedByKeyId, grantedByUserId: row.grantedByUserId };
}

/**
 * Call before a key is deleted. Scopes that it granted stay as narrow as they are now, and their grantor becomes the grantor of
 * the key itself. Services keep working when the key that set them up is replaced.
 */
export async function handOverGrants(tx: EntityManager, row: ApiKey): Promise<void> {
  await tx.execute(
    `update api_keys set granted_scopes = scopes, granted_by_key_id = ?, granted_by_user_id = ?, revision = revision + 1
     where organisation_id = ? and granted_by_key_id = ?`,
    [row.grantedByKeyId ?? null, row.grantedByUserId ?? null, row.organisationId, row.id],
    'run',
  );
}

function grantableBy({ scopes, type: own }: Actor, type: ApiKeyType): ReadonlySet<string> {
  return own === 'organisation-service' && type !== 'organisation-service' ? grantableInWorkspaces(scopes) : scopes;
}
