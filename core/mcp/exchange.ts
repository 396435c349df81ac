import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import type { McpCall } from '../contract/plugin/mcp-call.ts';
import type { ExternalTokens } from '../contract/protocol/external-tokens.ts';
import type { McpServerDocument } from '../contract/protocol/mcp.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors.ts';
import { findHeader, type ReplySink } from '../contract/values/http.ts';
import { type Answered, sendAttempt } from '../json-rpc/attempt.ts';
import { passedHeaders } from '../json-rpc/headers.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../json-rpc/messages.ts';
import type { OpenStreams } from '../json-rpc/open-streams.ts';
import { relayJson, relayStream } from '../json-rpc/relay-reply.ts';
import type { ToolChecks, ToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import type { ExchangeStream } from '../pipeline/attempt/exchange-stream.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import type { SignIdentity } from './identity-headers.ts';
import { missingScope } from './missing-scope.ts';
import type { OwnSessions } from './own-sessions.ts';
import { exchangeRest } from './rest/exchange-rest.ts';
import { routedBody, routingHeaders } from './routed-message.ts';
import { calledServer, nameServer, rejectedDetail } from './server-errors.ts';
import { messageReader } from './server-messages.ts';
import type { ServerSettings } from './server-settings.ts';
import { callerOf, type SessionIds } from './session-id.ts';
import { exchangeSse } from './sse/exchange-sse.ts';
import type { ToolLists } from './tool-lists.ts';
import { toolUsage } from './tool-usage.ts';
import { isOrder, type Transports } from './transports.ts';
import { upstreamCall } from './upstream-call.ts';
import type { UpstreamTokens } from './upstream-tokens.ts';

export interface McpParts {
  readonly settingsOf: (document: McpServerDocument) => ServerSettings;
  /** Origins whose pages may call; `*`: all. */
  readonly origins: ReadonlySet<string>;
  readonly sessionIds: SessionIds;
  readonly ownSessions: OwnSessions;
  /** Sessions in the revision of the server, for the gateway's own requests. */
  readonly routedSessions: OwnSessions;
  readonly toolLists: ToolLists;
  readonly transports: Transports;
  readonly openStreams: OpenStreams;
  readonly toolGuardrails: ToolGuardrails;
  /** Returns the validation of external tokens of a server; null: it needs none. */
  readonly externalTokensOf: (document: McpServerDocument) => ExternalTokens | null;
  readonly signIdentity: SignIdentity;
  /** Milliseconds to the head of a reply, and between two chunks of the reply to a message. */
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly tokens: UpstreamTokens;
}

/** One request to an MCP server. */
export interface Work {
  readonly parts: McpParts;
  readonly options: PipelineOptions;
  readonly ctx: RequestContext;
  readonly call: McpCall;
  readonly sink: ReplySink;
  /** With the caller's token, if the server needs one. */
  readonly server: ServerSettings;
  /** Identifies that token; null if the server needs none. */
  readonly tokenId: string | null;
}

export interface Outgoing {
  readonly body: Uint8Array | null;
  readonly hasRoutingHeaders: boolean;
  /** True for `initialize`, whose reply may begin a session. */
  readonly isOpening: boolean;
  /** Checks of the result; null: there are none. */
  readonly checkResult: ToolChecks['checkResult'];
  /** A call that the gateway sends in a session of its own, instead of `body`; null for messages of the client. */
  readonly routed: ClientMessage | null;
}

/** Headers of a server that clients of the protocol read. */
const passed: readonly string[] = ['content-type', 'mcp-protocol-version', 'retry-after', 'allow'];

/** Sends the request to the server, and its reply to the client. */
export async function exchange(work: Work, outgoing: Outgoing): Promise<AttemptReply> {
  const { ctx, call, sink, server, options } = work;
  if (server.rest !== null) return exchangeRest(work, outgoing, server.rest, () => authorised(work)).finally(() => charge(work));
  if (server.document.transport === 'sse') return exchangeSse(work, outgoing, () => authorised(work)).finally(() => charge(work));
  const { status, headers, stream, sender } = await sendAuthorised(work, outgoing);
  requireUsable(status, stream);
  const reply = passedHeaders(headers, passed);
  const session = outgoing.isOpening ? findHeader(headers, 'mcp-session-id') : undefined;
  if (session !== undefined) reply.push('mcp-session-id', sealSession(sender, session));
  const reader = messageReader({ server, call, checkResult: outgoing.checkResult, session: sessionOf(work) });
  const isStream = /^text\/event-stream\b/i.test(findHeader(headers, 'content-type') ?? '');
  const listening = status === 200 && isListening(work) ? work.parts.openStreams : null;
  const { clock } = options.services;
  try {
    if (!isStream && listening === null) return await relayJson(status, reply, stream, reader);
    return await relayStream({
      ...{ ctx, sink, status, headers: reply, exchange: stream, clock, listening },
      reader: isStream ? reader : null,
    });
  } finally {
    charge(work);
  }
}

/** Returns whether replies on the stream of a session must be checked; null for other requests. */
function sessionOf({ ctx, server, parts }: Work): 'open' | 'checked' | null {
  if (ctx.request.method !== 'GET') return null;
  return server.hasFilters || parts.toolGuardrails.exist(ctx, server.document) ? 'checked' : 'open';
}

function charge({ ctx, call }: Work): void {
  if (call.method === 'tools/call') ctx.usage = toolUsage(call);
}

/** Returns the settings with one transport, if the integration names two. */
async function settled({ parts, call }: Pick<Work, 'parts' | 'call'>, server: ServerSettings): Promise<ServerSettings> {
  if (!isOrder(server.document.transport)) return server;
  const found = await parts.transports.settle(server);
  call.transport = found.document.transport;
  return found;
}

/**
 * Returns the work with the caller's token for the server, in place of one that the server has rejected. `scope`: the scopes that the token
 * lacks; null: it is not valid.
 */
export async function authorised(work: Work, scope: string | null = null): Promise<Work> {
  const { parts, ctx, call, tokenId: id } = work;
  const rejected = id === null ? null : { id, scope };
  const { server, tokenId } = await parts.tokens.authorise(work.server, ctx.identity as Identity, call.id, rejected);
  return { ...work, server: await settled(work, server), tokenId };
}

/** Sends the request. A token of the caller that the server rejects is replaced once. */
async function sendAuthorised(work: Work, outgoing: Outgoing): Promise<Answered & { readonly sender: Work }> {
  if (work.tokenId === null) return { ...(await sendInSession(work, outgoing)), sender: work };
  const first = await sendInSession(work, outgoing).catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && thrown.detail === rejectedDetail) return null;
    throw thrown;
  });
  const scope = first?.status === 403 ? missingScope(first.headers) : null;
  if (first !== null && (work.ctx.aborted || (first.status !== 401 && scope === null))) return { ...first, sender: work };
  first?.stream.abort();
  const renewed = await authorised(work, scope);
  return { ...(await sendInSession(renewed, outgoing)), sender: renewed };
}

/**
 * Sends the request in the session that the client names. Requests without a session, of revisions that have them, share a session of
 * the gateway for this caller. It is opened again once if the server has ended it.
 */
async function sendInSession(work: Work, outgoing: Outgoing): Promise<Answered> {
  const { parts, ctx, server } = work;
  const isRouted = outgoing.routed !== null;
  const named = outgoing.isOpening || isRouted ? null : upstreamSessionOf(work);
  if (named !== null || outgoing.isOpening || outgoing.hasRoutingHeaders) return send(work, outgoing, named);
  const caller = callerOf(ctx.identity as Identity, server);
  const sessions = isRouted ? parts.routedSessions : parts.ownSessions;
  const own = await sessions.get(server, caller).catch(renamed);
  const first = await send(work, outgoing, own.sessionId, own.revision);
  if (ctx.aborted || (first.status !== 401 && (first.status !== 404 || own.sessionId === null))) return first;
  first.stream.abort();
  sessions.drop(server, caller, own);
  const again = await sessions.get(server, caller).catch(renamed);
  return send(work, outgoing, again.sessionId, again.revision);
}

async function send(work: Work, outgoing: Outgoing, sessionId: string | null, revision: string | null = null): Promise<Answered> {
  const { ctx, server, options, parts } = work;
  const { routed, hasRoutingHeaders } = outgoing;
  const body = routed !== null && revision !== null ? routedBody(routed, revision) : outgoing.body;
  const timeoutMs = server.document.timeoutMs ?? parts.requestTimeoutMs;
  const call = upstreamCall(ctx, {
    ...{ server, sessionId, revision, body, hasRoutingHeaders },
    ownRouting: routed !== null && revision !== null ? routingHeaders(routed, revision) : [],
    timeouts: {
      connectMs: parts.connectTimeoutMs,
      firstByteMs: timeoutMs,
      // A stream of notices may be silent.
      idleMs: isListening(work) ? 0 : timeoutMs,
      totalMs: 0,
    },
    prefixes: options.prefixes,
  });
  return sendAttempt(ctx, options, calledServer(server.document), call);
}

function renamed(thrown: unknown): never {
  throw nameServer(toGatewayError(thrown));
}

/** True for the streams of notices: that of a session, and that of `subscriptions/listen`. They have no end of their own. */
function isListening({ ctx, call }: Work): boolean {
  return ctx.request.method === 'GET' || call.method === 'subscriptions/listen';
}

/** Throws for replies that clients must not see: those about the gateway's own credential, and redirects. */
function requireUsable(status: number, stream: ExchangeStream): void {
  if (status !== 401 && status !== 403 && (status < 300 || status >= 400)) return;
  stream.abort();
  const message =
    status < 400
      ? `The MCP server replied with a redirect (${status}). Redirects are not followed`
      : `The MCP server rejected the credential of its integration (${status})`;
  throw new GatewayError('upstream_status', { message });
}

/** The session at the server of the session that the client names; null if it names none. Throws RpcError for one that has ended. */
function upstreamSessionOf({ parts, ctx, call, server }: Work): string | null {
  const id = ctx.request.header('mcp-session-id');
  if (id === undefined) return null;
  const session = parts.sessionIds.open(server.document.id, callerOf(ctx.identity as Identity, server), id);
  if (session !== null && session.settings === server.fingerprint) return session.upstream;
  throw new RpcError(rpcCodes.sessionNotFound, 'Session not found. Initialize a new one', { status: 404, id: call.id });
}

function sealSession({ parts, ctx, server }: Work, upstream: string): string {
  const state = { upstream, settings: server.fingerprint };
  return parts.sessionIds.seal(server.document.id, callerOf(ctx.identity as Identity, server), state);
}
