import type { Identity, RequestContext } from '../../contract/plugin/context.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import { hasAccess } from '../../contract/protocol/access-list.ts';
import type { McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import { isVirtual, type McpEndpointDocument } from '../../contract/protocol/mcp/mcp-virtual.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import { Refusal } from '../refusals.ts';

/**
 * Returns the server or virtual server that the path names. Throws Refusal: 403 for another workspace than the caller's and for callers
 * without access, 404 for an unknown server. Throws GatewayError `invalid_api_key` for an access token of another server.
 */
export function findServer(ctx: RequestContext, documents: DocumentReader): Maybe<McpEndpointDocument> {
  const identity = ctx.identity as Identity;
  const { workspace, server } = ctx.endpoint?.pathParams ?? {};
  if (workspace !== undefined && workspace !== ctx.workspace?.slug && workspace !== identity.workspaceId) {
    throw new Refusal(403, 'forbidden', 'You do not have access to this resource');
  }
  const usable = (document: McpEndpointDocument | null): McpEndpointDocument => {
    if (document) return requireAccess(document, identity);
    const path = workspace === undefined ? server : `${workspace}/${server}`;
    throw new Refusal(404, 'not_found', `Server '${path}' not found`);
  };
  const found = documents.get('mcp-server', `${identity.workspaceId}/${server}`);
  return isPromise(found) ? found.then(usable) : usable(found);
}

function requireAccess(document: McpEndpointDocument, identity: Identity): McpEndpointDocument {
  if (identity.mcpServerId !== undefined && identity.mcpServerId !== document.id) {
    throw new GatewayError('invalid_api_key', { message: 'The access token is for another MCP server' });
  }
  // The access rules of the servers behind a virtual server apply to each of its tools.
  if (!isVirtual(document) && !hasAccess(document.access, identity.userId)) {
    throw new Refusal(403, 'forbidden', 'You do not have access to this MCP server');
  }
  return document;
}

/** Returns a server of the caller's workspace; null if it does not exist or the caller has no access to it. */
export async function findUsable(
  ctx: RequestContext,
  documents: DocumentReader,
  slug: string,
): Promise<McpServerDocument | null> {
  const identity = ctx.identity as Identity;
  const document = await documents.get('mcp-server', `${identity.workspaceId}/${slug}`);
  return document && !isVirtual(document) && hasAccess(document.access, identity.userId) ? document : null;
}
