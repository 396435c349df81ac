import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { email as emailSchema } from '../../identity/schema.ts';
import type { OidcSettings } from '../../resources/sso-connections/entity.ts';
import { SignInRefusal } from '../refusal.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Facts about a user in the claims of an ID token or of the user-info endpoint. */
export interface UserClaims {
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly groups: readonly string[] | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

const groupsMax = 10_000;

/** Reads the claims of a user. `groups` is null if the claim is absent. */
export function readClaims(claims: Claims, own: Pick<OidcSettings, 'group_claim' | 'trust_email'>): UserClaims {
  const email = v.safeParse(emailSchema, claims.email);
  const verified = claims.email_verified;
  const lastName = nameOf(claims.family_name);
  return {
    email: email.success ? email.output : null,
    // Some providers send the text "true".
    emailVerified: verified === true || verified === 'true' || (verified === undefined && own.trust_email),
    groups: groupsOf(claims[own.group_claim]),
    // Dex and Authelia send the whole name only. It cannot be divided reliably.
    firstName: nameOf(claims.given_name) ?? (lastName === null ? nameOf(claims.name) : null),
    lastName,
  };
}

function groupsOf(claim: unknown): readonly string[] | null {
  if (claim === undefined) return null;
  const list = typeof claim === 'string' ? [claim] : claim;
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string').slice(0, groupsMax) : [];
}

/** Returns true if the provider names another place for the claim instead of its value (OpenID Connect Core §5.6.2). */
export function isByReference(claims: Claims, name: string): boolean {
  return isObject(claims._claim_names) && Object.hasOwn(claims._claim_names, name);
}

function nameOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim.trim() !== '' && !/\p{Cc}/u.test(claim) ? claim.trim().slice(0, 128) : null;
}

/** OpenID Connect allows 255 characters for `sub`. */
const idLengthMax = 512;

/**
 * Throws SignInRefusal if `sub` is blank, or if `sub` or `sid` of a token is too long for an index or contains characters that the database
 * cannot store. openid-client accepts a blank `sub`. A provider that fills it from an attribute that users do not have would sign all of
 * them in as the first one.
 */
export function checkIds({ sub, sid }: Claims): void {
  if (typeof sub === 'string' && sub.trim() === '')
    throw new SignInRefusal('invalid_response', 'sub: empty. The identity provider must send an id of its own for each user');
  for (const [name, id] of Object.entries({ sub, sid })) {
    if (typeof id === 'string' && (id.length > idLengthMax || /\p{Cc}|\p{Surrogate}/u.test(id)))
      throw new SignInRefusal(
        'invalid_response',
        `${name}: at most ${idLengthMax} characters are expected, none of them a control character`,
      );
  }
}

/** Tolerated difference between the clocks, in seconds. */
export const skewSeconds = 30;

/** Throws SignInRefusal if an ID token was issued in the future. openid-client requires `iat`, but compares it with nothing. */
export function checkIssueTime({ iat }: { readonly iat: number }, nowMs: number): void {
  if (iat * 1_000 <= nowMs + skewSeconds * 1_000) return;
  throw new SignInRefusal('invalid_response', 'iat: the ID token was issued in the future. Check the clocks of both servers');
}

/**
 * Throws SignInRefusal if the ID token belongs to another access token (OpenID Connect Core §3.1.3.8). The claim is optional in this
 * flow, and openid-client does not check it here.
 */
export function checkAccessTokenHash(idToken: string, claims: Claims, accessToken: string): void {
  if (claims.at_hash === undefined) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  // EdDSA: Ed25519 uses SHA-512.
  const bits = alg === 'EdDSA' || alg === 'Ed25519' ? '512' : alg.slice(-3);
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  const expected = digest.subarray(0, digest.length / 2).toString('base64url');
  if (claims.at_hash !== expected) {
    throw new SignInRefusal('invalid_response', 'at_hash: the ID token belongs to another access token');
  }
}
