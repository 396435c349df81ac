import type { HeaderList, InboundRequest } from '../contract/values/http.ts';

/** Cross-origin rules prepared from the setting; see the Fetch standard, "CORS protocol". */
export interface Cors {
  /** Headers to add to every reply to this request; null when its origin is absent or not allowed. */
  replyHeaders(request: InboundRequest): HeaderList | null;
  /** Headers of the 204 that answers a preflight; null when the request is none or its origin is not allowed. */
  preflight(request: InboundRequest): HeaderList | null;
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** One day; browsers cap it lower. */
const maxAgeSeconds = '86400';

/**
 * `origins`: exact origins (`https://app.example`), or `*` for any. Null when the list is empty: CORS is off. Credentials are
 * never allowed with it (keys travel in headers, not cookies), so `*` may expose all reply headers.
 */
export function compileCors(origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null;
  const any = origins.includes('*');
  const known = new Set(origins.map((origin) => origin.toLowerCase()));

  /** The value of access-control-allow-origin, or null. */
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
