import type { PublicCall } from '../../http/public-route.ts';
import { sessionCookie } from '../../identity/session-cookie.ts';
import { type ProviderSession, startSession } from '../../identity/sessions.ts';
import type { Change } from '../../publish/write-change.ts';
import type { User } from '../users/entity.ts';
import { toUserDetail } from '../users/to-reply.ts';

export type SignInCall = Pick<PublicCall<never>, 'services' | 'origin' | 'clientIp' | 'userAgent' | 'header'>;

/** Signs a user in within the current change and returns the reply. Pages of the service also receive the cookie. */
export async function signIn(change: Change, call: SignInCall, user: User, provider: Partial<ProviderSession> = {}) {
  const { services, clientIp, userAgent } = call;
  const from = { clientIp, userAgent };
  const { row, token, refreshToken } = await startSession(change.tx, user, from, services.clock.now(), provider);
  change.about(row);
  // Cross-origin pages get no cookie, because they could sign a visitor in as another user.
  if (call.origin !== 'cross') call.header('set-cookie', sessionCookie(token, row.expiresAt, services.settings));
  return {
    auth_token: token,
    refresh_token: refreshToken,
    expires_at: row.expiresAt.toISOString(),
    user: await toUserDetail(change.tx, user),
    object: 'session' as const,
  };
}
