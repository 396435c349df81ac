import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { buildEndSessionUrl } from 'openid-client';
import { isObject } from '../../../core/contract/values/json/json.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { createGatewayFetch, OutboundError } from '../../http/gateways/gateway-fetch.ts';
import { oidcAddresses } from '../../resources/sso-connections/addresses.ts';
import { oidcSettingsOf, type SsoConnection } from '../../resources/sso-connections/entity.ts';
import type { EndedAtProvider } from '../end-sessions.ts';
import { SignInRefusal } from '../refusal.ts';
import { asRefusal, isOutage, sourceOf } from './as-refusal.ts';
import { type ClientServices, oidcClient } from './client.ts';
import { checkIds, skewSeconds } from './read-claims.ts';

/** Also makes the check refuse tokens that were issued in the future, which would end sessions that begin until then. */
const ageSeconds = 86_400;
const event = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Verifies the logout token of a provider (OpenID Connect Back-Channel Logout §2.6). Throws SignInRefusal. Keys are read anew, because
 * such tokens are rare.
 */
export async function verifyLogoutToken(
  em: EntityManager,
  services: ClientServices,
  connection: SsoConnection,
  token: string,
): Promise<EndedAtProvider> {
  const client = await asRefusal(() => oidcClient(em, services, connection));
  const own = oidcSettingsOf(connection);
  const { issuer, jwks_uri: address = '' } = client.serverMetadata();
  const send = createGatewayFetch(services, connection.organisationId);
  const claims = await asRefusal(async () => {
    const response = await send(address, { method: 'GET', headers: { accept: 'application/json' }, body: null });
    if (isOutage(response)) throw new OutboundError(sourceOf(response));
    const keys = createLocalJWKSet((await response.json()) as JSONWebKeySet);
    const checks = { issuer, audience: own.client_id, algorithms: [own.id_token_signing_alg], clockTolerance: skewSeconds };
    // Ory Hydra sends no `exp`, which drafts did not have. The age limits such tokens, and they end only sessions that began before.
    const requiredClaims = ['iat', 'jti', 'events'];
    const verified = await jwtVerify(token, keys, { ...checks, requiredClaims, maxTokenAge: ageSeconds });
    return verified.payload;
  });
  const refuse = (text: string) => new SignInRefusal('invalid_response', `logout_token: ${text}`);
  if (!isObject(claims.events) || !isObject(claims.events[event])) throw refuse('is not a logout token');
  if (claims.nonce !== undefined) throw refuse('must not have a nonce');
  checkIds(claims);
  const sid = typeof claims.sid === 'string' ? claims.sid : null;
  if (claims.sub === undefined && sid === null) throw refuse('must have sub or sid');
  const { organisationId, id: connectionId } = connection;
  const before = new Date(((claims.iat ?? 0) + skewSeconds) * 1_000);
  return {
    organisationId,
    connectionId,
    issuer,
    subject: claims.sub ?? null,
    providerSessions: sid === null ? null : [sid],
    before,
  };
}

/** Returns the address that ends the session at the provider; null if it has none. Rejects if the provider cannot be reached. */
export async function oidcLogoutUrl(
  em: EntityManager,
  services: ClientServices,
  connection: SsoConnection,
  idToken: string,
): Promise<string | null> {
  const client = await oidcClient(em, services, connection);
  if (client.serverMetadata().end_session_endpoint === undefined) return null;
  return buildEndSessionUrl(client, {
    id_token_hint: idToken,
    post_logout_redirect_uri: oidcAddresses(services.settings, connection).post_logout_redirect_uri,
  }).href;
}
