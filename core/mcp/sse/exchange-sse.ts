import { GatewayError } from '../../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { beginAttempt } from '../../json-rpc/attempt.ts';
import { RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import { setTraceContext } from '../../pipeline/attempt/outgoing-call.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { isStateless } from '../headers/routing-headers.ts';
import { upstreamCall } from '../headers/upstream-call.ts';
import { emptyReply, resultReply } from '../local-replies/local-replies.ts';
import { discoverResult, prefersSession } from '../revisions/handshakes.ts';
import { listenInSession } from '../revisions/listen-in-session.ts';
import { translatedReader } from '../revisions/translated-reader.ts';
import { calledServer, lostDetail, rejectionIn } from '../server/server-errors.ts';
import { messageReader } from '../server/server-messages.ts';
import type { OwnSession } from '../sessions/own-client.ts';
import { routedBody } from '../sessions/routed-message.ts';
import { sessionNamed } from '../sessions/send-in-session.ts';
import { callerOf } from '../sessions/session-id.ts';
import { exchangeInSseSession, openSseSession } from './session-exchange.ts';
import type { SseConnection } from './sse-connection.ts';
import { eventReply, onDisconnect, readMessage, sendRead } from './sse-reply.ts';

/**
 * Serves a message for a server of the transport HTTP+SSE: in the session of the client, or for clients without one over a connection
 * that all messages of a caller share in this process. `renew` returns the work with another token of the caller.
 */
export async function exchangeSse(work: Work, outgoing: Outgoing, renew: () => Promise<Work | null>): Promise<AttemptReply> {
  const { ctx, call, server } = work;
  const message = messageOf(outgoing);
  const named = sessionNamed(work, outgoing);
  if (named !== null) return exchangeInSseSession(work, outgoing, named, message, headersOf(work, null));
  if (message === null) throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed', { status: 405 });
  if (outgoing.isOpening) return openSseSession(work, message, renew);
  const isRequest = call.id !== null && message.method !== undefined;
  const client = isStateless(ctx.request.header('mcp-protocol-version')) ? 'stateless' : 'sessions';
  if (!isRequest) {
    if (client === 'sessions' && isPassedNotice(message.method))
      await onConnection(work, renew, (connection, headers) => connection.notify(message, headers));
    return emptyReply(202);
  }
  if (message.method === 'server/discover' && outgoing.message !== null) {
    if (prefersSession(outgoing.message)) {
      throw new RpcError(rpcCodes.methodNotFound, 'Method not found: server/discover', { id: call.id, status: 404 });
    }
    return resultReply(outgoing.message, discoverResult((await sessionOf(work)).opened));
  }
  if (client === 'stateless' && message.method === 'subscriptions/listen' && outgoing.message !== null) {
    return listenInSession(work, outgoing.message);
  }
  const reply = eventReply(work, call.id);
  const read = messageReader({ server, call, checks: outgoing.checks, session: null });
  const reader = client === 'stateless' ? translatedReader(read, client, call.method) : read;
  const events = sendRead(reply, reader);
  const receiver = { onProgress: events.send, onCancel: onDisconnect(ctx) };
  try {
    const response = await onConnection(work, renew, (connection, headers) => connection.request(message, headers, receiver));
    await events.sent();
    return reply.end(await readMessage(reader, response));
  } catch (thrown) {
    return reply.fail(thrown);
  }
}

function messageOf({ body, message, hasRoutingHeaders, routed }: Outgoing): JsonObject | null {
  const own = routed ?? (hasRoutingHeaders ? message : null);
  const sent = own === null ? body : routedBody(own, '');
  return sent === null ? null : parseObject(textOf(sent));
}

/** The gateway has sent its own `initialized`. Ids in a cancellation are those of the client: it cancels by disconnecting. */
function isPassedNotice(method: unknown): boolean {
  return typeof method === 'string' && method !== 'notifications/initialized' && method !== 'notifications/cancelled';
}

function sessionOf({ parts, server, ctx }: Work): Promise<OwnSession> {
  return parts.ownSessions.get(server, callerOf(ctx.identity as NonNullable<typeof ctx.identity>, server));
}

type Run<T> = (connection: SseConnection, headers: string[]) => Promise<T>;

/** Runs on the connection of the caller. It is opened again once if the server has not handled the message. */
async function onConnection<T>(work: Work, renew: () => Promise<Work | null>, run: Run<T>): Promise<T> {
  const attempt = await beginAttempt(work.ctx, work.options.services, calledServer(work.server));
  try {
    const done = await once(work, run).catch(async (thrown: unknown) => {
      if (work.ctx.aborted || !wasNotHandled(thrown)) throw thrown;
      const again = rejectionIn(thrown) !== null ? await renew() : null;
      return once(again ?? work, run);
    });
    attempt.ended(200);
    return done;
  } catch (thrown) {
    throw attempt.failed(thrown);
  }
}

async function once<T>(work: Work, run: Run<T>): Promise<T> {
  const { parts, server, ctx } = work;
  const session = await sessionOf(work);
  try {
    return await run(session.sse as SseConnection, headersOf(work, session.revision));
  } catch (thrown) {
    const caller = callerOf(ctx.identity as NonNullable<typeof ctx.identity>, server);
    if (wasNotHandled(thrown)) parts.ownSessions.drop(server, caller, session);
    throw thrown;
  }
}

/** The headers of a message to the server. `revision` null: that of the client. */
function headersOf({ ctx, server, options }: Work, revision: string | null): string[] {
  const { headers } = upstreamCall(ctx, {
    ...{ server, sessionId: null, revision, body: null, routing: [] },
    ...{ timeouts: { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 }, prefixes: options.prefixes },
  });
  if (options.dispatcher.outgoing.traceContext) setTraceContext(ctx, headers);
  return headers;
}

function wasNotHandled(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && (thrown.detail === lostDetail || rejectionIn(thrown) !== null);
}
