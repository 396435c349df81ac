import { decodeJwt, decodeProtectedHeader } from 'jose';
import { tokenLengthMax } from '../contract/protocol/credentials/tokens.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { isUuid } from '../contract/values/text/uuid.ts';

/** Seconds by which the clocks of issuers may differ. */
export const skewSeconds = 5;

/** Unverified content of a JWT: enough to find the keys that must have signed it. */
export interface ReadToken {
  readonly kid: string;
  readonly organisationId: string;
}

/** Header parameters with which a token could supply its own key or the location of one (RFC 7515 §4.1). */
const ownKey = ['jku', 'jwk', 'x5u', 'x5c'] as const;
const types: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);

/**
 * Reads a token without checking its signature. Throws GatewayError `invalid_api_key`, or `api_key_expired` if it has expired by its own
 * claims. Both checks need no look-up.
 */
export function readToken(token: string, nowMs: number): ReadToken {
  if (token.length > tokenLengthMax) throw invalid(`longer than ${tokenLengthMax} characters`);
  const [header, payload] = decode(token);
  if (header.alg !== 'RS256') throw invalid('expected alg RS256 in the header');
  if (typeof header.kid !== 'string' || header.kid === '') throw invalid('expected a kid in the header');
  if (header.typ !== undefined && !types.has(lowerCase(header.typ))) throw invalid('expected typ JWT in the header');
  const own = ownKey.find((name) => name in header);
  if (own !== undefined) throw invalid(`${own} is not allowed in the header`);
  const named = payload.svc_oid ?? payload.organisation_id;
  if (named === undefined) throw invalid('the claim svc_oid or organisation_id is missing');
  const organisationId = lowerCase(named);
  if (!isUuid(organisationId)) throw invalid('the claim svc_oid or organisation_id must be the id of an organisation');
  if (typeof payload.exp !== 'number') throw invalid('the claim exp is missing');
  if ((payload.exp + skewSeconds) * 1000 <= nowMs) throw expired();
  return { kid: header.kid, organisationId };
}

/** Returns the claims of a rejected JWT for the audit trail; nulls if they cannot be read. */
export function describeToken(token: string): { organisationId: string | null; kid: string | null; subject: string | null } {
  try {
    if (token.length > tokenLengthMax) throw invalid('too long');
    const [header, payload] = decode(token);
    const organisationId = lowerCase(payload.svc_oid ?? payload.organisation_id);
    return {
      organisationId: isUuid(organisationId) ? organisationId : null,
      kid: typeof header.kid === 'string' ? shown(header.kid) : null,
      subject: subjectOf(payload),
    };
  } catch {
    return { organisationId: null, kid: null, subject: null };
  }
}

/** Returns the subject of a token: the first of these claims that it has, in a form that records and audit trails can store. */
export function subjectOf(payload: Readonly<JsonObject>): string | null {
  for (const name of ['email_id', 'sub', 'uid']) {
    const value = payload[name];
    if (typeof value === 'string' && value !== '') return shown(value);
  }
  return null;
}

/** Returns a text in small letters; empty for other values. `String` throws for an object with a `toString` that is no function. */
function lowerCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}

/** Returns at most 255 characters of a text. U+FFFD replaces characters that databases or terminals reject. */
function shown(text: string): string {
  return text.slice(0, 255).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

/** 401: this token can never be valid. */
export function invalid(reason: string): GatewayError {
  return new GatewayError('invalid_api_key', { message: `Invalid token: ${reason}` });
}

/** 401 with the code for expired keys. */
export function expired(): GatewayError {
  return new GatewayError('api_key_expired', { message: 'The token has expired' });
}

function decode(token: string): [JsonObject, JsonObject] {
  try {
    const header: unknown = decodeProtectedHeader(token);
    const payload: unknown = decodeJwt(token);
    if (token.split('.').length === 3 && isObject(header) && isObject(payload)) return [header, payload];
  } catch {
    // The code below throws one error for every text that is not a token.
  }
  throw invalid('expected a signed JWT');
}
