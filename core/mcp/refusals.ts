import type { RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import { oauthScope as scope } from '../contract/protocol/credentials/oauth-token.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { errorBody, RpcError, type RpcId, rpcCodes, toRpcError } from '../json-rpc/messages.ts';

/** A rejection before any message was read, in the form of OAuth errors. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, error: 'forbidden' | 'not_found' | 'unauthorized', description: string) {
    super(description);
    const body = JSON.stringify({ error, error_description: description });
    const challenge = status === 401 ? ['www-authenticate', 'Bearer error="invalid_token"'] : [];
    this.reply = { status, headers: ['content-type', 'application/json', ...challenge], body, isDenial: true };
  }
}

/** Returns the reply of an error that the gateway found in a message. */
export function rpcErrorReply({ status, rpcCode, id, message, data }: RpcError): Reply {
  const headers = ['content-type', 'application/json'];
  return { status, headers, body: errorBody(id, rpcCode, message, data), isDenial: true };
}

/** The error of a request in a session that has ended. Clients then initialize again. */
export function sessionNotFound({ id }: { readonly id: RpcId | null }): RpcError {
  return new RpcError(rpcCodes.sessionNotFound, 'Session not found. Initialize a new one', { status: 404, id });
}

/**
 * Returns the reply to a request to an MCP server that failed. The reply to a rejected credential has the address of the resource's
 * metadata, which describes how to authorise. The reply to a token without a scope names the scope. Null: the gateway's usual error.
 */
export function mcpErrorReply(ctx: RequestContext, error: GatewayError, mcpPublicUrl: string): Reply | null {
  if (error.status === 401) return unauthorised(ctx, mcpPublicUrl);
  if (error.code === 'forbidden' && ctx.identity?.scopes.has(scope) === false) return withoutScope(ctx, error, mcpPublicUrl);
  // The id is unknown until the message is read.
  if (ctx.mcp === null) return null;
  const reply = rpcErrorReply(toRpcError(error, ctx.mcp.id));
  ctx.mcp.errorCode = rpcCodes.internal;
  return error.retryAfterMs === null
    ? reply
    : { ...reply, headers: [...reply.headers, 'retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))] };
}

function unauthorised(ctx: RequestContext, mcpPublicUrl: string): Reply | null {
  if (hasKey(ctx)) return null;
  const hasToken = ctx.request.header('authorization') !== undefined;
  const invalid = isOfServer(ctx) ? 'The access token is for another MCP server' : 'The access token is invalid or has expired';
  const description = hasToken
    ? invalid
    : 'Authentication required to access this resource. Send an API key in x-svc-api-key or Authorization: Bearer';
  const parameters = `${hasToken ? 'error="invalid_token", ' : ''}scope="${scope}", ${metadataOf(ctx, mcpPublicUrl)}`;
  return challenge(401, 'unauthorized', description, parameters);
}

/** True for a valid access token, which a server of another path refuses. */
function isOfServer({ identity }: RequestContext): boolean {
  return identity?.mcpServerId !== undefined;
}

/** Tokens can be replaced by one with the scope, API keys cannot. */
function withoutScope(ctx: RequestContext, { message }: GatewayError, mcpPublicUrl: string): Reply | null {
  if (hasKey(ctx)) return null;
  const parameters = `error="insufficient_scope", scope="${scope}", ${metadataOf(ctx, mcpPublicUrl)}`;
  return { ...challenge(403, 'insufficient_scope', message, parameters), isDenial: true };
}

function hasKey(ctx: RequestContext): boolean {
  return ctx.gatewayHeaders.has('api-key') || ctx.request.header('x-api-key') !== undefined;
}

function metadataOf({ request }: RequestContext, mcpPublicUrl: string): string {
  return `resource_metadata="${mcpPublicUrl}/.well-known/oauth-protected-resource${request.path}"`;
}

function challenge(status: number, error: string, description: string, parameters: string): Reply {
  return {
    status,
    headers: ['content-type', 'application/json', 'www-authenticate', `Bearer ${parameters}`],
    body: JSON.stringify({ error, error_description: description }),
  };
}
