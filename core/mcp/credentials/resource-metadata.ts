import type { InboundRequest, ReplySink } from '../../contract/values/http/http.ts';

const metadataPath = /^\/\.well-known\/oauth-protected-resource((?:\/[a-zA-Z0-9_-]{1,255}){1,2}\/mcp)$/;

/** `publicUrl`: the authorisation server. `mcpPublicUrl`: the MCP servers. */
type Urls = { readonly publicUrl: string; readonly mcpPublicUrl: string };

/**
 * Replies to a request for the metadata of a protected resource (RFC 9728). Returns false for other paths. The reply is the same for
 * servers that do not exist, so it reveals none.
 */
export function replyResourceMetadata({ publicUrl, mcpPublicUrl }: Urls, request: InboundRequest, sink: ReplySink): boolean {
  const path = request.method === 'GET' ? metadataPath.exec(request.path)?.[1] : undefined;
  if (path === undefined) return false;
  const body = JSON.stringify({
    resource: `${mcpPublicUrl}${path}`,
    authorization_servers: [publicUrl],
    scopes_supported: ['mcp.invoke'],
    bearer_methods_supported: ['header'],
  });
  sink.send(200, ['content-type', 'application/json', 'cache-control', 'public, max-age=60'], body);
  return true;
}
