import { authorizationCodeGrant, type Configuration, fetchUserInfo } from 'openid-client';
import * as v from 'valibot';
import type { PublicCall } from '../../http/public-route.ts';
import { oidcAddresses } from '../../resources/sso-connections/addresses.ts';
import {
  type OidcSettings,
  oidcSettingsOf,
  type SignInAttempt,
  type SsoConnection,
} from '../../resources/sso-connections/entity.ts';
import { takeAttempt } from '../attempts.ts';
import type { VerifiedIdentity } from '../finish-sign-in.ts';
import { SignInRefusal } from '../refusal.ts';
import { asRefusal } from './as-refusal.ts';
import { oidcAttempt } from './begin.ts';
import { freshOidcClient } from './client.ts';
import {
  type Claims,
  checkAccessTokenHash,
  checkIds,
  checkIssueTime,
  isByReference,
  readClaims,
  type UserClaims,
} from './read-claims.ts';

/** The parameters with which the provider sent the browser back. */
export type CallbackQuery = Readonly<Record<string, string>>;

type Call = Pick<PublicCall<never>, 'services' | 'em' | 'requestHeader'>;

/**
 * Verifies the response of an OpenID Connect provider to an attempt: state, issuer, code with PKCE, and the ID token with signature,
 * audience, times, nonce and `at_hash`. Throws SignInRefusal.
 */
export async function finishOidc(
  call: Call,
  connection: SsoConnection,
  attempt: SignInAttempt,
  query: CallbackQuery,
): Promise<VerifiedIdentity> {
  const data = v.parse(oidcAttempt, await takeAttempt(call.em, call.services, attempt, call.requestHeader('cookie')));
  const own = oidcSettingsOf(connection);
  if (own.shared_callback && query.iss === undefined) {
    throw new SignInRefusal('invalid_response', 'iss: required with shared_callback, but the identity provider did not send it');
  }
  const client = await asRefusal(() => freshOidcClient(call.em, call.services, connection));
  const { redirect_uri: address } = oidcAddresses(call.services.settings, connection);
  const checks = { pkceCodeVerifier: data.verifier, expectedNonce: data.nonce, expectedState: query.state ?? '' };
  const url = new URL(`${address}?${new URLSearchParams(query)}`);
  const tokens = await asRefusal(() => authorizationCodeGrant(client, url, { ...checks, idTokenExpected: true }));
  const claims = tokens.claims();
  const idToken = tokens.id_token;
  if (!claims || idToken === undefined)
    throw new SignInRefusal('invalid_response', 'id_token: missing in the reply of the provider');
  checkIds(claims);
  checkIssueTime(claims, call.services.clock.now());
  // openid-client checks it if there are several audiences only (OpenID Connect Core §3.1.3.7).
  if (claims.azp !== undefined && claims.azp !== client.clientMetadata().client_id)
    throw new SignInRefusal('invalid_response', 'azp: the ID token was issued for another client');
  checkAccessTokenHash(idToken, claims, tokens.access_token);
  const user = await completed(client, readClaims(claims, own), own, { claims, accessToken: tokens.access_token });
  return {
    organisationId: connection.organisationId,
    connectionId: connection.id,
    type: 'oidc',
    issuer: claims.iss,
    subject: claims.sub,
    subjectIsEmail: false,
    ...user,
    groups: user.groups ?? (isByReference(claims, own.group_claim) ? null : []),
    sessionEndsAt: null,
    providerSession: typeof claims.sid === 'string' ? claims.sid : null,
    logoutHint: idToken,
  };
}

/** Reads claims that the ID token lacks from the user-info endpoint, if the provider has one. */
async function completed(
  client: Configuration,
  user: UserClaims,
  own: OidcSettings,
  { claims, accessToken }: { readonly claims: Claims & { readonly sub: string }; readonly accessToken: string },
): Promise<UserClaims> {
  const isVerifiedKnown = claims.email_verified !== undefined || user.emailVerified;
  const isComplete = user.email !== null && isVerifiedKnown && user.groups !== null;
  if (isComplete || client.serverMetadata().userinfo_endpoint === undefined) return user;
  const more = await asRefusal(() => fetchUserInfo(client, accessToken, claims.sub));
  // The statement beside the e-mail counts. Another one counts in its absence, unless it is about another e-mail.
  const [beside, other] = claims.email === undefined ? [more, claims] : [claims, more];
  const isAboutOther = claims.email !== undefined && claims.email !== more.email;
  const verified = beside.email_verified ?? (isAboutOther ? undefined : other.email_verified);
  return readClaims({ ...more, ...claims, email_verified: verified }, own);
}
