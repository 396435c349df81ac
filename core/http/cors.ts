import type { HeaderList, InboundRequest } from '../contract/values/http/http.ts';

/** Cross-origin rules prepared from the setting; see the Fetch standard, "CORS protocol". */
export interface Cors {
  /** Returns the headers to add to every reply to this request. */
  replyHeaders(request: InboundRequest): HeaderList;
  /** Returns the headers of the 204 for a preflight. Null if the request is not a preflight or its origin is not allowed. */
  preflight(request: InboundRequest): HeaderList | null;
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const exposed: HeaderList = ['access-control-expose-headers', '*'];
const ofAnyOrigin: HeaderList = ['access-control-allow-origin', '*', ...exposed];
const varying: HeaderList = ['vary', 'origin'];
/** One day. Browsers apply a lower maximum. */
const maxAgeSeconds = '86400';

/**
 * `origins`: exact origins (`https://app.example`), or `*` for any. Null if the list is empty, which disables CORS. Credentials
 * are never allowed (keys are sent in headers, not cookies), so `*` may expose all reply headers.
 */
export function compileCors(origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null;
  const any = origins.includes('*');
  const known = new Set(origins.map((origin) => origin.toLowerCase()));
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (any || known.has(origin.toLowerCase()));

  return {
    // A cache would give the reply to a request without an origin to pages of allowed origins. Without these headers, they could not read it.
    replyHeaders(request) {
      if (any) return ofAnyOrigin;
      const origin = request.header('origin');
      return isAllowed(origin) ? ['access-control-allow-origin', origin, ...exposed, ...varying] : varying;
    },
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return null;
      if (!isAllowed(request.header('origin'))) return null;
      const asked = request.header('access-control-request-headers');
      const names = asked === undefined ? [] : ['access-control-allow-headers', asked];
      return ['access-control-allow-methods', methods, ...names, 'access-control-max-age', maxAgeSeconds];
    },
  };
}
