import { dataPlaneScopes, scopesByType } from '../../access/scopes.ts';
import { AdminError, forbidden } from '../../http/errors.ts';
import type { Actor } from '../../http/route.ts';
import type { ApiKeyType } from './entity.ts';

/**
 * The scopes a new or changed key will have. Throws AB01 for scopes that keys of its type cannot hold and AB03 for scopes
 * above the creator's own. Organisation keys cannot call models themselves, yet hand out the scopes that do.
 */
export function checkScopes(actor: Actor, type: ApiKeyType, asked: readonly string[]): string[] {
  const scopes = [...new Set(asked)];
  const possible = scopesByType[type];
  const errors = scopes.flatMap((scope, index) => (possible.has(scope) ? [] : [`scopes[${index}]: not a scope of ${type} keys`]));
  if (errors.length > 0) throw new AdminError('AB01', errors[0] ?? '', errors);
  const above = scopes.filter((scope) => !mayGrant(actor, type, scope));
  if (above.length > 0) throw forbidden(`This key may not give scopes that it does not have: ${above.slice(0, 10).join(', ')}`);
  return scopes;
}

function mayGrant(actor: Actor, type: ApiKeyType, scope: string): boolean {
  if (actor.scopes.has(scope)) return true;
  return actor.type === 'organisation-service' && type !== 'organisation-service' && dataPlaneScopes.includes(scope);
}
