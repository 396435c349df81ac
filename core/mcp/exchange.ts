import type { RequestContext } from '../contract/plugin/context.ts';
import type { McpCall } from '../contract/plugin/requests/mcp-call.ts';
import type { ExternalTokens } from '../contract/protocol/mcp/external-tokens.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type ReplySink } from '../contract/values/http/http.ts';
import { isEventStream } from '../contract/values/text/event-text.ts';
import { passedHeaders } from '../json-rpc/headers.ts';
import { type ClientMessage, errorBody, toRpcError } from '../json-rpc/messages.ts';
import type { OpenStreams } from '../json-rpc/open-streams.ts';
import { messageBytesMax, relayJson, relayStream } from '../json-rpc/relay-reply.ts';
import { requireUsable } from '../json-rpc/require-usable.ts';
import type { ToolChecks, ToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import { hasToolResult } from './check-task.ts';
import { canRenew, renewed } from './credentials/authorised.ts';
import type { UpstreamTokens } from './credentials/upstream-tokens.ts';
import type { SignIdentity } from './headers/identity-headers.ts';
import type { MappedHeaders } from './headers/mapped-headers.ts';
import { isJson, passedNames, requireMessages } from './headers/upstream-reply.ts';
import type { ToolLists } from './lists/tool-lists.ts';
import { exchangeRest } from './rest/exchange-rest.ts';
import type { ClientQuestions } from './revisions/client-questions.ts';
import { askedSession, exchangeAsking } from './revisions/exchange-asking.ts';
import { learnRevisions, mayRefuseRevision } from './revisions/learn-revisions.ts';
import { requireListening } from './revisions/listen-statelessly.ts';
import { replyLocally } from './revisions/reply-locally.ts';
import type { ServerRevisions } from './revisions/server-revisions.ts';
import { translatedReader } from './revisions/translated-reader.ts';
import { checksWithoutTool } from './server/checks-without-tool.ts';
import { listeningOf } from './server/listening.ts';
import { nameServer, rejectionIn } from './server/server-errors.ts';
import { messageReader } from './server/server-messages.ts';
import type { ServerSettings } from './server/server-settings.ts';
import type { Transports } from './server/transports.ts';
import { streamOf } from './sessions/body-stream.ts';
import type { OwnSessions } from './sessions/own-sessions.ts';
import { refuseInSession, replyInSession } from './sessions/reply-to-question.ts';
import { isListening, sealSession, sendAuthorised, sessionNamed } from './sessions/send-in-session.ts';
import type { SessionIds } from './sessions/session-id.ts';
import { exchangeSse } from './sse/exchange-sse.ts';
import type { SseSessions } from './sse/sse-sessions.ts';
import { toolUsage } from './tool-usage.ts';

export interface McpParts {
  readonly settingsOf: (document: McpServerDocument) => ServerSettings;
  /** Origins whose pages may call; `*`: all. */
  readonly origins: ReadonlySet<string>;
  readonly mappedHeaders: MappedHeaders;
  readonly sessionIds: SessionIds;
  readonly ownSessions: OwnSessions;
  /** Sessions in the revision of the server, for the gateway's own requests. */
  readonly routedSessions: OwnSessions;
  readonly toolLists: ToolLists;
  readonly revisions: ServerRevisions;
  readonly sseSessions: SseSessions;
  readonly clientQuestions: ClientQuestions;
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
  /** The message in `body`; null for requests without one. */
  readonly message: ClientMessage | null;
  readonly hasRoutingHeaders: boolean;
  /** True for `initialize`, whose reply may begin a session. */
  readonly isOpening: boolean;
  /** Guardrails of the call; null: there are none. */
  readonly checks: ToolChecks | null;
  /** A call that the gateway sends in a session of its own, instead of `body`; null for messages of the client. */
  readonly routed: ClientMessage | null;
}

/** Sends the request to the server, and its reply to the client. */
export function exchange(work: Work, outgoing: Outgoing): Promise<AttemptReply> {
  return canRenew(work) ? exchangeRenewing(work, outgoing) : exchangeOnce(work, outgoing);
}

/** Replaces the credential once if the server rejects it in a request of the gateway itself, for example when a session is opened. */
async function exchangeRenewing(work: Work, outgoing: Outgoing): Promise<AttemptReply> {
  try {
    return await exchangeOnce(work, outgoing);
  } catch (thrown) {
    const rejection = work.call.isCredentialRenewed || work.ctx.aborted ? null : rejectionIn(thrown);
    const again = rejection === null ? null : await renewed(work, rejection);
    if (again === null) throw thrown;
    return exchangeOnce(again, outgoing);
  }
}

async function exchangeOnce(work: Work, outgoing: Outgoing): Promise<AttemptReply> {
  const { ctx, call, sink, server, options } = work;
  if (server.rest !== null) return exchangeRest(work, outgoing, server.rest, () => renewed(work)).finally(() => charge(work));
  if (server.document.transport === 'sse') return exchangeSse(work, outgoing, () => renewed(work)).finally(() => charge(work));
  const named = sessionNamed(work, outgoing);
  const local = await replyLocally(work, outgoing, named);
  if (local !== null) return local;
  const asked = askedSession(named, outgoing.message);
  if (asked !== null) return exchangeAsking(work, outgoing, asked).finally(() => charge(work));
  const { status, headers, sender, client, own, ...sent } = await sendAuthorised(work, outgoing, named);
  let { stream } = sent;
  requireUsable('MCP server', status, stream);
  if (outgoing.message?.kind === 'request') requireMessages(status, headers, stream);
  if (mayRefuseRevision(status, outgoing)) {
    const body = (await stream.whole(messageBytesMax)) ?? new Uint8Array();
    if (await learnRevisions(sender, outgoing, body)) return exchangeOnce(sender, outgoing);
    stream = streamOf(stream, body);
  }
  const reply = passedHeaders(headers, passedNames);
  const session = outgoing.isOpening ? findHeader(headers, 'mcp-session-id') : undefined;
  if (session !== undefined) reply.push('mcp-session-id', sealSession(sender, session));
  const isStream = isEventStream(findHeader(headers, 'content-type'));
  const isReply = !isStream && status === 200 && outgoing.message?.kind === 'request';
  let isReplied = false;
  let isCharged = false;
  const read = messageReader({
    ...{
      server,
      call,
      checks: outgoing.checks ?? (isListening(work) ? await checksWithoutTool(work) : null),
      session: sessionOf(work),
    },
    ...(named === null || named.client ? {} : { refuse: refuseInSession(sender, named.upstream) }),
    isReply,
    replyTo: own === null ? undefined : replyInSession(sender, own),
    dropsTaskResults: isStream && work.parts.toolGuardrails.exist(ctx, server.document),
    onReply(message) {
      isReplied = true;
      isCharged = message !== null && hasToolResult(call.method, message.result);
    },
  });
  const reader = client === null ? read : translatedReader(read, client, call.method);
  if (client === 'sessions' && ctx.request.method === 'GET') requireListening(status, stream);
  if (status >= 400 && sessionOf(work) === 'checked' && !isJson(headers)) {
    // Text that is no message cannot be checked, and no request of the client waits for it.
    stream.abort();
    return { kind: 'replaced', reply: { status, headers: passedHeaders(headers, ['retry-after', 'allow']), body: '' } };
  }
  const listening = status === 200 && isListening(work) ? listeningOf(work) : null;
  const { clock } = options.services;
  try {
    // Clients with sessions read errors of the protocol only in replies with status 200, and 404 as the end of a session.
    const sentStatus = client === 'sessions' && status < 500 && !isStream ? 200 : status;
    if (!isStream && listening === null) {
      return await relayJson(status, reply, stream, reader, { sentStatus, isRequired: isReply });
    }
    return await relayStream({
      ...{ ctx, sink, status, headers: reply, exchange: stream, clock, listening },
      reader: isStream ? reader : null,
      failure: (error) => (isStream && listening === null && !isReplied ? failureText(work, error) : null),
      isIncomplete: () => isStream && listening === null && !isReplied && outgoing.message?.kind === 'request',
    });
  } finally {
    charge(work, isCharged);
  }
}

/** Returns whether replies on the stream of a session must be checked; null for other requests. */
function sessionOf({ ctx, server, parts }: Work): 'open' | 'checked' | null {
  if (ctx.request.method !== 'GET') return null;
  return server.hasFilters || parts.toolGuardrails.exist(ctx, server.document) ? 'checked' : 'open';
}

/** The error that takes the place of a reply that did not arrive; null if there is no request. */
function failureText({ call, server }: Work, error: GatewayError): string | null {
  if (call.id === null) return null;
  const { rpcCode, message, data } = toRpcError(nameServer(error, server.document.slug), call.id);
  call.errorCode = rpcCode;
  return errorBody(call.id, rpcCode, message, data);
}

/** `isTool`: the reply holds the result of a tool. */
function charge({ ctx, call }: Work, isTool = false): void {
  if (isTool || call.method === 'tools/call') ctx.usage = toolUsage(call);
}
