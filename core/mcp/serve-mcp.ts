import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import type { McpCall } from '../contract/plugin/mcp-call.ts';
import type { McpServerDocument } from '../contract/protocol/mcp.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import { readBytes } from '../pipeline/request/read-body.ts';
import type { EndpointHandler } from '../pipeline/run.ts';
import { requireEnabled } from './capabilities.ts';
import { authorised, exchange, type McpParts, type Work } from './exchange.ts';
import { findServer } from './find-server.ts';
import { type ClientMessage, nameOf, parseMessage, RpcError, rpcCodes } from './messages.ts';
import { requireApproved } from './pinning/require-approved.ts';
import { Refusal, rpcErrorReply } from './refusals.ts';
import { checkRoutingHeaders } from './routing-headers.ts';
import { callerOf } from './session-id.ts';

/** Maximum length of a message of a client in bytes. */
const requestBytesMax = 4 * 1024 * 1024;

/** Serves `/{server}/mcp` and `/{workspace}/{server}/mcp`: passes each message to the server and its reply to the client. */
export function createMcpHandler(parts: McpParts): EndpointHandler {
  return async (options, ctx, sink) => {
    try {
      requireOrigin(ctx, parts.origins);
      const document = await findServer(ctx, options.services.documents);
      const call = callOf(ctx, document);
      ctx.mcp = call;
      const work = { parts, options, ctx, call, sink, server: parts.settingsOf(document), tokenId: null };
      return await (ctx.request.method === 'POST' ? serveMessage(work) : serveSession(work));
    } catch (thrown) {
      if (thrown instanceof Refusal) return { kind: 'replaced', reply: thrown.reply };
      if (!(thrown instanceof RpcError)) throw thrown;
      if (ctx.mcp) ctx.mcp.errorCode = thrown.rpcCode;
      return { kind: 'replaced', reply: rpcErrorReply(thrown) };
    }
  };
}

/** A message of the client. */
async function serveMessage(given: Work): Promise<AttemptReply> {
  const { ctx, call, parts } = given;
  requireAccept(ctx);
  // A small body has been read already.
  const body = ctx.body ?? (await readBytes(ctx, requestBytesMax));
  ctx.body = body;
  const message = parseMessage(body);
  call.id = message.id;
  call.method = message.method;
  call.name = nameOf(message)?.slice(0, 2_048) ?? null;
  const hasRoutingHeaders = checkRoutingHeaders(ctx.request, message);
  requireEnabled(given.server, message);
  const work = await authorised(given);
  const { server } = work;
  await requireApproved(parts.toolLists, server, callerOf(ctx.identity as Identity), message);
  const isOpening = message.method === 'initialize';
  if (message.method !== 'tools/call') return exchange(work, { body, hasRoutingHeaders, isOpening, checkResult: null });
  for (const hook of ctx.plan.onToolCall) await hook(ctx);
  const checks = await parts.toolGuardrails.of(ctx, server.document, call.name ?? '');
  const checked = checks === null ? message : await checks.checkArguments(message);
  const sent = checked === message ? body : encoded(checked);
  return exchange(work, { body: sent, hasRoutingHeaders, isOpening, checkResult: checks?.checkResult ?? null });
}

/** The bytes of a message whose arguments a guardrail has changed. */
function encoded({ id, method, params }: ClientMessage): Uint8Array {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...(id === null ? {} : { id }), method, params }));
}

/** The stream of a session (GET), or its end (DELETE). */
async function serveSession(work: Work): Promise<AttemptReply> {
  if (work.ctx.request.header('mcp-session-id') === undefined) {
    throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: the header mcp-session-id is required', { status: 405 });
  }
  return exchange(await authorised(work), { body: null, hasRoutingHeaders: false, isOpening: false, checkResult: null });
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

function callOf(ctx: RequestContext, document: McpServerDocument): McpCall {
  return {
    id: null,
    serverId: document.id,
    server: document.slug,
    integrationId: document.integrationId,
    transport: document.transport,
    method: null,
    name: null,
    revision: ctx.request.header('mcp-protocol-version')?.slice(0, 64) ?? null,
    callerAuth: ctx.token === null ? 'api_key' : 'jwt',
    upstreamAuth: document.authType,
    errorCode: null,
    isToolError: false,
  };
}
