import type { EntityManager } from '../db/open-database.ts';
import type { PublicCall } from '../http/public-route.ts';
import type { ConnectionType, SsoConnection } from '../resources/sso-connections/entity.ts';
import { beginOidc } from './oidc/begin.ts';
import { auditRefusals } from './refusal.ts';
import { beginSaml } from './saml/begin.ts';

export interface SignInWish {
  /** Sent to the provider as a hint; null: none. */
  readonly email: string | null;
  /** Path of this service to open afterwards; null: none. */
  readonly returnTo: string | null;
}

/** Address of the provider, and the cookie that binds the attempt to the browser. */
interface BegunSignIn {
  readonly url: string;
  readonly cookie: string;
}

export type BeginCall = Pick<PublicCall<never>, 'services' | 'em' | 'requestHeader'>;

/**
 * Prepares a sign-in with the protocol of the connection. Network calls happen first; the returned function stores the attempt in a
 * transaction. Throws SignInRefusal.
 */
export type BeginSignIn = (
  call: BeginCall,
  connection: SsoConnection,
  wish: SignInWish,
) => Promise<(tx: EntityManager) => Promise<BegunSignIn>>;

const protocols: Readonly<Record<ConnectionType, BeginSignIn>> = {
  oidc: beginOidc,
  saml: beginSaml,
};

/**
 * Begins a sign-in: stores the attempt, sets its cookie, and returns the address of the identity provider. Anyone can begin a sign-in, so
 * only its refusal and its end leave audit entries.
 */
export async function beginSignIn(
  call: BeginCall & Pick<PublicCall<never>, 'header' | 'auditRefusal'>,
  connection: SsoConnection,
  wish: SignInWish,
): Promise<string> {
  const { organisationId, id: connectionId } = connection;
  return auditRefusals(call, { organisationId, connectionId }, async () => {
    const store = await protocols[connection.type](call, connection, wish);
    const { url, cookie } = await call.services.database.emOf(organisationId).transactional(store);
    call.header('set-cookie', cookie);
    return url;
  });
}
