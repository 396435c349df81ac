import { forbidden } from '../http/errors.ts';
import type { Actor, AdminRoute } from '../http/route.ts';

/** Throws AB03 when the route asks for a scope the caller lacks, or for a person where a key is asking. */
export function requireRight(route: Pick<AdminRoute, 'scopes' | 'signedIn'>, actor: Actor): void {
  if (route.signedIn === 'required' && !actor.session) throw forbidden('This is for people who have signed in, not for API keys');
  if (route.signedIn && actor.session) return;
  if (route.scopes.some((scope) => actor.scopes.has(scope))) return;
  throw forbidden(`${actor.session ? 'Your role' : 'This key'} lacks the scope ${route.scopes.join(' or ')}`);
}
