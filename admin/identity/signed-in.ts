import type { PublicCall } from '../http/public-route.ts';
import type { User } from '../resources/users/entity.ts';
import type { Session } from './entity.ts';
import { readSessionCookie } from './session-cookie.ts';
import { findSession } from './sessions.ts';

/** Returns the session of the browser that sent the request, and its user. Null if the browser is not signed in. */
export async function signedInUser(
  call: Pick<PublicCall<unknown>, 'em' | 'services' | 'requestHeader'>,
): Promise<{ readonly row: Session; readonly user: User } | null> {
  const { settings, clock } = call.services;
  const cookie = readSessionCookie(call.requestHeader('cookie'), settings);
  if (cookie === null) return null;
  return findSession(call.em, cookie, { idleTtlSeconds: settings.sessionIdleSeconds }, clock.now());
}
