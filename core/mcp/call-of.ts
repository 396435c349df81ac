import type { RequestContext } from '../contract/plugin/context.ts';
import type { McpCall } from '../contract/plugin/requests/mcp-call.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import type { McpVirtualServerDocument } from '../contract/protocol/mcp/mcp-virtual.ts';

/** Returns the call of a server, for the record. */
export function callOf(ctx: RequestContext, document: McpServerDocument): McpCall {
  const { integrationId, transport, authType } = document;
  return { ...newCall(ctx, document), integrationId, transport, upstreamAuth: authType };
}

/** Returns the call of a virtual server, until a tool of a server behind it is called. */
export function virtualCallOf(ctx: RequestContext, document: McpVirtualServerDocument): McpCall {
  return { ...newCall(ctx, document), integrationId: null, transport: 'virtual', upstreamAuth: 'none' };
}

function newCall(ctx: RequestContext, { id, slug }: { readonly id: string; readonly slug: string }) {
  return {
    id: null,
    serverId: id,
    server: slug,
    method: null,
    name: null,
    revision: ctx.request.header('mcp-protocol-version')?.slice(0, 64) ?? null,
    callerAuth: ctx.identity?.mcpServerId !== undefined ? 'oauth' : ctx.token === null ? 'api_key' : 'jwt',
    errorCode: null,
    isToolError: false,
    isCredentialRenewed: false,
    messageLength: 0,
    replyLength: 0,
    via: null,
  } as const;
}
