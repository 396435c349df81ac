import { hash, type KeyObject } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { TokenAsk, TokenVerifier, VerifiedToken } from '../contract/protocol/credentials/tokens.ts';
import type { OrganisationDocument } from '../contract/protocol/documents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { type Claims, readClaims } from './claims.ts';
import type { KeySets } from './key-sets.ts';
import { expired, invalid, readToken, skewSeconds } from './read-token.ts';
import { type CheckedToken, findIdentity, isCurrent, type TokenIdentity } from './token-identity.ts';

export interface TokenVerifierOptions {
  readonly documents: DocumentReader;
  readonly keySets: KeySets;
  readonly clock: Clock;
  readonly noteRefusal: TokenVerifier['noteRefusal'];
}

/** A token that was checked once. It stays valid until its end if its organisation's rules do not change. */
interface Checked extends CheckedToken {
  readonly expiresAtMs: number;
  readonly identities: Map<string, { readonly found: TokenIdentity; readonly verified: VerifiedToken }>;
}

/** Maximum number of cached JWTs, and of their characters in total. The data stored for a token is not longer than the token. */
const tokensMax = 10_000;
const charactersMax = 32 * 1024 * 1024;
/** Maximum number of workspaces cached for one JWT. */
const identitiesMax = 16;

/** Creates the verifier of a gateway process. Tokens are stored by the SHA-256 of their text, never as text. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { documents, keySets, clock } = options;
  const checked = new LRUCache<string, Checked>({ max: tokensMax, maxSize: charactersMax });

  return { verify, noteRefusal: options.noteRefusal };

  function verify(ask: TokenAsk): Maybe<VerifiedToken> {
    const sha256 = hash('sha256', ask.token, 'hex');
    const known = checked.get(sha256);
    if (!known) return verifyAnew(ask, sha256, undefined);
    if (known.expiresAtMs <= clock.now()) {
      checked.delete(sha256);
      throw expired();
    }
    const found = known.identities.get(ask.workspace ?? '');
    return found && isCurrent(found.found, documents) ? found.verified : verifyAnew(ask, sha256, known);
  }

  async function verifyAnew(ask: TokenAsk, sha256: string, known: Checked | undefined): Promise<VerifiedToken> {
    const entry = await check(ask, sha256, known);
    const name = ask.workspace ?? '';
    const found = await findIdentity(entry, ask.workspace, documents);
    const verified = { identity: found.identity, scopes: entry.claims.scopes };
    if (entry.identities.size >= identitiesMax) entry.identities.clear();
    entry.identities.set(name, { found, verified });
    return verified;
  }

  async function check(ask: TokenAsk, sha256: string, known: Checked | undefined): Promise<Checked> {
    const { kid, organisationId } = readToken(ask.token, clock.now());
    const lookUp = documents.get('organisation', organisationId);
    if (isPromise(lookUp) && ask.isHeldBack) {
      lookUp.catch(() => undefined);
      throw new GatewayError('too_many_failures', { retryAfterMs: 60_000 });
    }
    const organisation = await lookUp;
    // An unknown organisation and one without keys get the same error.
    if (!organisation)
      throw new GatewayError('forbidden', {
        message: 'Forbidden! JWT authentication is not enabled for the organisation of this token',
      });
    // A rotated key does not end tokens that it signed. A changed rule does, unless the token satisfies it too.
    if (known?.organisation === organisation) return known;
    const key = await keySets.find(organisation, kid);
    if (!key) throw invalid('no key of the organisation has the kid of the header');
    const payload = await checkSignature(ask.token, key, organisation, clock.now());
    const keyId = idOf(ask.token);
    const claims = readClaims(payload, keyId, clock.now());
    checkLife(claims, organisation, clock.now());
    const expiresAtMs = (claims.exp + skewSeconds) * 1000;
    const entry: Checked = { organisation, claims, keyId, expiresAtMs, identities: new Map() };
    checked.set(sha256, entry, { size: ask.token.length });
    return entry;
  }
}

/**
 * Throws GatewayError for a token whose lifetime exceeds its organisation's limit, counted from its issue time, or from now if it
 * has none.
 */
function checkLife({ exp, iat }: Claims, { jwt }: OrganisationDocument, nowMs: number): void {
  if (jwt.maxTtlSeconds === null) return;
  const begin = Math.min(iat ?? Number.POSITIVE_INFINITY, nowMs / 1000);
  if (exp - begin > jwt.maxTtlSeconds + skewSeconds) {
    throw invalid(
      `the claim exp is more than ${jwt.maxTtlSeconds} seconds ahead, the maximum of the organisation (jwt.max_token_ttl)`,
    );
  }
}

/** Failed checks of registered claims. Expected values are left out, because they are part of replies. */
const failed: Readonly<Record<string, string>> = {
  iss: 'is not the issuer that the organisation requires (jwt.issuer)',
  aud: 'does not contain the audience that the organisation requires (jwt.audience)',
  nbf: 'is in the future. Check the clocks of both servers',
};

/** Returns the payload if signature and registered claims are valid. Throws GatewayError. */
async function checkSignature(token: string, key: KeyObject, { jwt }: OrganisationDocument, nowMs: number): Promise<JsonObject> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['RS256'],
      clockTolerance: skewSeconds,
      currentDate: new Date(nowMs),
      requiredClaims: ['exp'],
      ...(jwt.issuer === null ? {} : { issuer: jwt.issuer }),
      ...(jwt.audience === null ? {} : { audience: jwt.audience }),
    });
    return payload as JsonObject;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired();
    if (error instanceof errors.JWTClaimValidationFailed) {
      const isOfAnotherType = error.reason === 'invalid';
      throw invalid(`the claim ${error.claim} ${(isOfAnotherType ? undefined : failed[error.claim]) ?? 'is invalid'}`);
    }
    if (error instanceof errors.JOSEError) throw invalid('the signature cannot be verified');
    throw error;
  }
}

/**
 * Returns a UUID (version 8, RFC 9562 §5.8) that names a token in records and ledgers and reveals nothing about it. The signature is left
 * out: the last character of its base64url has unused bits, and padding may follow it. A caller could otherwise write one token in many
 * ways, and get its limits for each.
 */
function idOf(token: string): string {
  const sha256 = hash('sha256', token.slice(0, token.lastIndexOf('.')), 'hex');
  const variant = ((Number.parseInt(sha256.charAt(16), 16) & 3) | 8).toString(16);
  return [
    sha256.slice(0, 8),
    sha256.slice(8, 12),
    `8${sha256.slice(13, 16)}`,
    variant + sha256.slice(17, 20),
    sha256.slice(20, 32),
  ].join('-');
}
