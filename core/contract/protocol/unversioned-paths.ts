/**
 * Paths of OAuth that are served without a version as well as below `/v1` and `/v2`: the authorisation server for MCP clients, and
 * the callback for those of MCP servers.
 */
export const unversionedOAuthPaths: ReadonlySet<string> = new Set([
  '/.well-known/oauth-authorization-server',
  '/oauth/authorize',
  '/oauth/introspect',
  '/oauth/register',
  '/oauth/revoke',
  '/oauth/token',
  '/oauth/upstream-callback',
]);

/** The registry of MCP servers, with the version of the registry's API, and its path below `/v1`. */
export const registryAlias = { base: '/v0.1', path: '/servers', of: '/mcp-registry/servers' } as const;
