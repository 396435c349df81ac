import type { RequestContext } from '../contract/plugin/context.ts';
import { isVirtual } from '../contract/protocol/mcp/mcp-virtual.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../json-rpc/messages.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { EndpointHandler } from '../pipeline/run.ts';
import { admit } from './admit.ts';
import { callOf } from './call-of.ts';
import { authorised } from './credentials/authorised.ts';
import { exchange, type McpParts, type Work } from './exchange.ts';
import { callBehind, forward, listTools, receive, takeFromLimits } from './forward.ts';
import { handshakeReply } from './local-replies/local-replies.ts';
import { Refusal, rpcErrorReply } from './refusals.ts';
import { findServer } from './server/find-server.ts';
import { nameServer } from './server/server-errors.ts';
import { callToolName } from './tool-search/search-definitions.ts';
import { serveSearch } from './tool-search/serve-search.ts';
import { serverSource } from './tool-search/server-source.ts';
import { serveVirtual } from './virtual/serve-virtual.ts';

/** Serves `/{server}/mcp` and `/{workspace}/{server}/mcp`: passes each message to the server and its reply to the client. */
export function createMcpHandler(parts: McpParts): EndpointHandler {
  return async (options, ctx, sink) => {
    try {
      requireOrigin(ctx, parts.origins);
      const found = findServer(ctx, options.services.documents);
      const document = isPromise(found) ? await found : found;
      if (ctx.request.method === 'POST') requireAccept(ctx);
      if (isVirtual(document)) return await serveVirtual({ parts, options, ctx, sink }, document);
      const call = callOf(ctx, document);
      ctx.mcp = call;
      const server = admit(parts, ctx, document);
      const work = { parts, options, ctx, call, sink, server: isPromise(server) ? await server : server, tokenId: null };
      return await (ctx.request.method === 'POST' ? serveMessage(work) : serveSession(work));
    } catch (thrown) {
      if (thrown instanceof Refusal) return { kind: 'replaced', reply: thrown.reply };
      if (!(thrown instanceof RpcError)) throw ctx.mcp ? nameServer(toGatewayError(thrown), ctx.mcp.server) : thrown;
      if (ctx.mcp) ctx.mcp.errorCode = thrown.rpcCode;
      return { kind: 'replaced', reply: rpcErrorReply(thrown) };
    }
  };
}

/** A message of the client. */
async function serveMessage(work: Work): Promise<AttemptReply> {
  const { body, message, hasRoutingHeaders } = await receive(work);
  const { rest, document } = work.server;
  if (rest !== null) {
    const handshake = handshakeReply({ name: document.slug, title: rest.title, instructions: null }, message);
    if (handshake !== null) return handshake;
  }
  const found = work.server.document.toolSearch ? await search(work, message) : null;
  return (
    found ??
    forward(work, message, { body, message, hasRoutingHeaders, isOpening: message.method === 'initialize', routed: null })
  );
}

function search(work: Work, message: ClientMessage): Promise<AttemptReply | null> {
  const { server } = work;
  const source = serverSource(
    server,
    () => listTools(work, server),
    (routed) => callBehind(work, server, routed, callToolName),
  );
  return serveSearch(message, source, () => takeFromLimits(work, message));
}

/** The stream of a session (GET), or its end (DELETE). */
async function serveSession(work: Work): Promise<AttemptReply> {
  if (work.server.rest !== null) {
    throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: REST APIs have no sessions', { status: 405 });
  }
  if (work.ctx.request.header('mcp-session-id') === undefined) {
    throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: the header mcp-session-id is required', { status: 405 });
  }
  const { parts, ctx, server } = work;
  // Errors on the stream of a session may belong to calls of any tool.
  const checks = ctx.request.method === 'GET' ? await parts.toolGuardrails.of(ctx, server.document, null) : null;
  return exchange(await authorised(work), {
    body: null,
    message: null,
    hasRoutingHeaders: false,
    isOpening: false,
    routed: null,
    checks,
  });
}

/** Refuses pages of unknown origins, as the transport requires: their host name may lead to this address by DNS rebinding. */
function requireOrigin({ request }: RequestContext, origins: ReadonlySet<string>): void {
  const origin = request.header('origin');
  if (origin === undefined || origins.has('*') || origins.has(origin.toLowerCase())) return;
  throw new Refusal(403, 'forbidden', 'The origin of this page is not allowed. Add it to CORS_ORIGINS to allow it');
}

/** Clients of the protocol accept both forms of a reply, because the server chooses. */
function requireAccept({ request }: RequestContext): void {
  const accept = request.header('accept') ?? '';
  if (/\*\/\*/.test(accept) || (accept.includes('application/json') && accept.includes('text/event-stream'))) return;
  const text = 'Not Acceptable: Client must accept both application/json and text/event-stream';
  throw new RpcError(rpcCodes.notAcceptable, text, { status: 406 });
}
