import type { Identity } from '../../contract/plugin/context.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { emptyReply, resultReply } from '../local-replies/local-replies.ts';
import { discover } from '../sessions/own-client.ts';
import { callerOf, type SessionState } from '../sessions/session-id.ts';
import { clientOf, discoverResult, initializeResult, prefersSession } from './handshakes.ts';
import { listenInSession } from './listen-in-session.ts';

/** Methods of sessions that the revision without sessions lacks. */
const onlyInSessions: ReadonlySet<string> = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/**
 * Returns the reply to a message that has no counterpart in the revisions of its server; null for all others. `session` is that of the
 * client. Throws RpcError -32601 for methods that the server cannot serve.
 */
export async function replyLocally(work: Work, outgoing: Outgoing, session: SessionState | null): Promise<AttemptReply | null> {
  const { parts, ctx, server } = work;
  const { message, isOpening } = outgoing;
  if (session?.client) {
    if (ctx.request.method === 'DELETE') return emptyReply(200);
    return message === null ? null : inSession(work, message);
  }
  const only = message === null || outgoing.routed !== null ? null : parts.revisions.only(server);
  if (message === null || only === null) return null;
  if (isOpening && !outgoing.hasRoutingHeaders && only === 'stateless') return initialize(work, message);
  return outgoing.hasRoutingHeaders && only === 'sessions' && !prefersSession(message) ? statelessly(work, message) : null;
}

/** A message of a client with a session, for a server without sessions. */
async function inSession({ parts, ctx }: Work, message: ClientMessage): Promise<AttemptReply | null> {
  if (message.kind === 'response') {
    const sent = ctx.body === null ? null : parseObject(textOf(ctx.body));
    const session = ctx.request.header('mcp-session-id') as string;
    // The process that asked may be gone, and its request with it.
    if (sent !== null) await parts.clientQuestions.settle(session, sent).catch(() => undefined);
    return emptyReply(202);
  }
  // A closed connection cancels a request at a server without sessions.
  if (message.kind !== 'request') return emptyReply(202);
  if (message.method === 'ping') return resultReply(message, {});
  if (!onlyInSessions.has(message.method ?? '')) return null;
  throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${message.method}`, { id: message.id, status: 200 });
}

/** A message of a client without sessions, for a server with sessions. */
async function statelessly(work: Work, message: ClientMessage): Promise<AttemptReply | null> {
  const { parts, ctx, server } = work;
  if (message.kind !== 'request') return emptyReply(202);
  if (message.method === 'subscriptions/listen') return listenInSession(work, message);
  if (message.method !== 'server/discover') return null;
  const own = await parts.routedSessions.get(server, callerOf(ctx.identity as Identity, server));
  // The server may support the revision by now.
  return own.sessionId === null && own.opened.supportedVersions !== undefined
    ? resultReply(message, own.opened)
    : resultReply(message, discoverResult(own.opened));
}

async function initialize(work: Work, message: ClientMessage): Promise<AttemptReply | null> {
  const { parts, ctx, server } = work;
  const discovered: JsonObject | null = await discover(parts.routedSessions.partsOf(server));
  if (discovered === null) {
    parts.revisions.note(server, null);
    return null;
  }
  const state = { upstream: '', settings: server.fingerprint, client: clientOf(message) };
  const id = parts.sessionIds.seal(server.document.id, callerOf(ctx.identity as Identity, server), state);
  const { reply, ...rest } = resultReply(message, initializeResult(message, discovered, server.document.slug));
  return { ...rest, reply: { ...reply, headers: [...reply.headers, 'mcp-session-id', id] } };
}
