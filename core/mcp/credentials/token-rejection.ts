import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';

const scopeLengthMax = 1_024;
/** Scopes of RFC 6749, separated by single spaces. */
const scopeList = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Reason for which a server rejected a token. */
export interface Rejection {
  /** Scopes that the server demands, separated by spaces; null: it demands none. */
  readonly scope: string | null;
  /** True if the token may just have ended: a new one may do, although it has no further scopes. */
  readonly isInvalid: boolean;
}

/** Returns why a reply rejects the token of its request (RFC 6750); null if it does not. */
export function rejectionOf(status: number, headers: HeaderList): Rejection | null {
  if (status !== 401 && status !== 403) return null;
  const challenge = findHeader(headers, 'www-authenticate') ?? '';
  const named = /^bearer\b/i.test(challenge) ? /[ ,]scope="([^"]*)"/i.exec(challenge)?.[1]?.trim() : undefined;
  const scope = named !== undefined && named.length <= scopeLengthMax && scopeList.test(named) ? named : null;
  if (status === 401) return { scope, isInvalid: true };
  return scope !== null && /[ ,]error="?insufficient_scope\b/i.test(challenge) ? { scope, isInvalid: false } : null;
}
