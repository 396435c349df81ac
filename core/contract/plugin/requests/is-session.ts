import type { InboundRequest } from '../../values/http/http.ts';
import type { Endpoint } from './endpoint.ts';

/** True for requests that become a session if the provider supports it. */
export function isSession(endpoint: Endpoint | null, request: InboundRequest): boolean {
  return endpoint?.isRealtime === true || (endpoint?.traffic !== undefined && (request.webSocketProtocols ?? null) !== null);
}
