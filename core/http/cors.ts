import type { HeaderList, InboundRequest } from '../contract/values/http/http.ts';

/** Cross-origin rules prepared from the setting; see the Fetch standard, "CORS protocol". */
export interface Cors {
  /** Returns the headers to add to every reply to this request. Null if its origin is absent or not allowed. */
  replyHeaders(request: InboundRequest): HeaderList | null;
  /** Returns the headers of the 204 for a preflight. Null if the request is not a preflight or its origin is not allowed. */
  preflight(request: InboundRequest): HeaderList | null;
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
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

  /** Returns the value of access-control-allow-origin, or null. */
  function allowed(request: InboundRequest): string | null {
    const origin = request.header('origin');
    if (origin === undefined) return null;
    if (any) return '*';
    return known.has(origin.toLowerCase()) ? origin : null;
  }

  return {
    replyHeaders(request) {
      const origin = allowed(request);
      if (origin === null) return null;
      return ['access-control-allow-origin', origin, 'access-control-expose-headers', '*', ...(any ? [] : ['vary', 'origin'])];
    },
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return null;
      if (allowed(request) === null) return null;
      const asked = request.header('access-control-request-headers');
      const names = asked === undefined ? [] : ['access-control-allow-headers', asked];
      return ['access-control-allow-methods', methods, ...names, 'access-control-max-age', maxAgeSeconds];
    },
  };
}
