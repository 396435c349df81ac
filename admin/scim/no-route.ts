import { AdminError } from '../http/errors.ts';

const scimPath = /^\/v[12]\/scim\/[0-9a-f-]{36}(?:\/|$)/i;
/** Optional parts of RFC 7644 that are not available: the user of the token, several operations, and a search of all types. */
const optionalPart = /^\/v[12]\/scim\/[^/]+\/(?:Me|Bulk|\.search)\/?$/i;

/** True for a path below `/scim/{organisationId}`, where errors have the form of RFC 7644. */
export function isScimPath(path: string): boolean {
  return scimPath.test(path);
}

/** Returns 501 for an optional part of the protocol, as RFC 7644 §3.11 and §3.12 ask, else the same error. */
export function toScimNoRoute(error: AdminError, path: string): AdminError {
  if (!optionalPart.test(path)) return error;
  const message = 'Not supported: /Me, /Bulk and a search of all types. Use /Users/.search and /Groups/.search';
  return new AdminError('AB08', message, null, 501);
}
