import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { McpServerDocument } from '../contract/protocol/mcp.ts';
import { Refusal } from './refusals.ts';

/**
 * Returns the server that the path names. Throws Refusal: 403 for another workspace than the caller's and for callers without access,
 * 404 for an unknown server.
 */
export async function findServer(ctx: RequestContext, documents: DocumentReader): Promise<McpServerDocument> {
  const identity = ctx.identity as Identity;
  const { workspace, server } = ctx.endpoint?.pathParams ?? {};
  if (workspace !== undefined && workspace !== ctx.workspace?.slug && workspace !== identity.workspaceId) {
    throw new Refusal(403, 'forbidden', 'You do not have access to this resource');
  }
  const document = await documents.get('mcp-server', `${identity.workspaceId}/${server}`);
  if (!document) {
    const path = workspace === undefined ? server : `${workspace}/${server}`;
    throw new Refusal(404, 'not_found', `Server '${path}' not found`);
  }
  if (!isAllowed(document, identity)) throw new Refusal(403, 'forbidden', 'You do not have access to this MCP server');
  return document;
}

function isAllowed({ access }: McpServerDocument, { userId }: Identity): boolean {
  const isException = userId !== null && access.exceptions.includes(userId);
  return (access.default === 'allow') !== isException;
}
