import type { Endpoint } from '../contract/context.ts';

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const scopes = ['completions.write'];

/**
 * Pass-through for everything below `/v1` that is no route of ours: method, path, query and bytes go to the provider as they
 * came. `/v1/proxy/…` forces it also for paths that would be shaped. Null when the method cannot be passed.
 */
export function proxyEndpoint(method: string, pathBelowV1: string): Endpoint | null {
  if (!methods.has(method)) return null;
  const path = pathBelowV1.startsWith('/proxy/') ? pathBelowV1.slice('/proxy'.length) : pathBelowV1;
  // Clients that put `/v1` in their own paths too would otherwise reach `/v1/v1/…`.
  const proxyPath = path.startsWith('/v1/') ? path.slice('/v1'.length) : path;
  return { name: 'proxy', operation: null, scopes, format: 'plain', proxyPath };
}
