import { type ApiKeyType, kindOfType } from '../../../core/contract/values/credentials/api-key.ts';
import { type AdminError, forbidden } from '../errors.ts';
import type { AdminRoute } from '../route.ts';
import type { Actor } from './actor.ts';
import type { ScopesByType } from './callers.ts';

/** True if a session is sufficient on this route and the actor has one, or has a JWT and the route accepts JWTs as well. */
export function isSignedIn(route: Pick<AdminRoute, 'signedIn' | 'tokensToo'>, actor: Actor): boolean {
  return (actor.session !== undefined && route.signedIn !== undefined) || (isToken(actor) && route.tokensToo === true);
}

/** Returns true if the actor used a JWT signed by an organisation. */
export function isToken(actor: Actor): boolean {
  return actor.tokenSubject !== undefined;
}

/** Returns what holds the scopes of an actor, as errors name it. */
export function holderOf(actor: Actor): string {
  if (actor.session) return 'Your role';
  return isToken(actor) ? 'This JWT' : 'This API key';
}

/** Returns AB03 for an actor that has none of these scopes. */
export function lacksScope(actor: Actor, scopes: readonly string[], hint = ''): AdminError {
  return forbidden(`${holderOf(actor)} lacks the scope ${scopes.join(' or ')}${hint}`);
}

const apiKeyTypes = Object.keys(kindOfType) as ApiKeyType[];

/** Throws AB03 if the caller lacks the scope of the route, or if the route requires a session and the caller has a key. */
export function requireScope(
  route: Pick<AdminRoute, 'scopes' | 'signedIn' | 'tokensToo'>,
  actor: Actor,
  scopesByType: ScopesByType,
): void {
  if (isSignedIn(route, actor)) return;
  if (route.signedIn === 'required') throw forbidden('This route requires the session of a user. API keys cannot use it');
  if (route.scopes.some((scope) => actor.scopes.has(scope))) return;
  const isKey = !actor.session && !isToken(actor);
  throw lacksScope(actor, route.scopes, isKey ? typeHint(route.scopes, actor.type, scopesByType) : '');
}

/** Returns which types of keys can have one of the scopes, and nothing if keys of this type can. */
function typeHint(scopes: readonly string[], type: ApiKeyType, scopesByType: ScopesByType): string {
  const types = apiKeyTypes.filter((each) => scopes.some((scope) => scopesByType[each].has(scope)));
  if (types.length === 0 || types.includes(type)) return '';
  return `. Its type is ${type}; only keys of type ${types.join(' or ')} can have this scope`;
}
