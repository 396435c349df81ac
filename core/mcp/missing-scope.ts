import { findHeader, type HeaderList } from '../contract/values/http.ts';

const scopeLengthMax = 1_024;
/** Scopes of RFC 6749, separated by single spaces. */
const scopeList = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Returns the scopes that a server demands in a reply with 403 (RFC 6750), separated by spaces; null if it demands none. */
export function missingScope(headers: HeaderList): string | null {
  const challenge = findHeader(headers, 'www-authenticate') ?? '';
  if (!/^bearer\b/i.test(challenge) || !/[ ,]error="?insufficient_scope\b/i.test(challenge)) return null;
  const scope = /[ ,]scope="([^"]*)"/i.exec(challenge)?.[1]?.trim() ?? '';
  return scope.length <= scopeLengthMax && scopeList.test(scope) ? scope : null;
}
