import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';

const path = /^(?:\/([a-zA-Z0-9_-]{1,255}))?\/([a-zA-Z0-9_-]{1,255})\/mcp$/;
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE']);

/** The endpoint of `/{server}/mcp` and `/{workspace}/{server}/mcp`; null if the path has another form. */
export function mcpEndpoint(method: string, requestPath: string): Endpoint | 'method-not-allowed' | null {
  const found = path.exec(requestPath);
  if (!found) return null;
  if (!methods.has(method)) return 'method-not-allowed';
  const [, workspace, server] = found as unknown as [string, string | undefined, string];
  return {
    name: 'mcp',
    operation: null,
    routing: 'none',
    usesNoTokens: true,
    scopes: ['mcp.invoke'],
    format: 'plain',
    proxyPath: '',
    pathParams: { server, ...(workspace === undefined ? {} : { workspace }) },
  };
}
