import { GatewayError } from '../../contract/values/errors.ts';
import { isPromise, type JsonObject, parseObject } from '../../contract/values/json.ts';
import { beginAttempt } from '../../json-rpc/attempt.ts';
import { RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import type { OwnSession } from '../own-client.ts';
import { routedBody } from '../routed-message.ts';
import { calledServer, lostDetail, rejectedDetail } from '../server-errors.ts';
import { messageReader } from '../server-messages.ts';
import { callerOf } from '../session-id.ts';
import { upstreamCall } from '../upstream-call.ts';
import type { SseConnection } from './sse-connection.ts';
import { openedFor, progressReply } from './sse-reply.ts';

/**
 * Serves a message for a server of the transport HTTP+SSE. Clients have no sessions there: all messages of a caller share a connection of
 * this process. `renew` returns the work with another token of the caller.
 */
export async function exchangeSse(work: Work, outgoing: Outgoing, renew: () => Promise<Work>): Promise<AttemptReply> {
  const { ctx, call, server } = work;
  const message = messageOf(outgoing);
  if (message === null) throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed', { status: 405 });
  const reply = progressReply(work, call.id);
  if (message.method === 'initialize') return reply.end(openedFor(call.id, (await sessionOf(work)).opened));
  const isRequest = call.id !== null && message.method !== undefined;
  if (!isRequest) {
    if (isPassedNotice(message.method))
      await onConnection(work, renew, (connection, headers) => connection.notify(message, headers));
    return { kind: 'replaced', reply: { status: 202, headers: [], body: '' } };
  }
  const reader = messageReader({ server, call, checkResult: outgoing.checkResult, session: null });
  const receiver = {
    onProgress: reply.send,
    onCancel(cancel: () => void) {
      ctx.abortUpstream = cancel;
      if (ctx.aborted) cancel();
    },
  };
  try {
    const response = await onConnection(work, renew, (connection, headers) => connection.request(message, headers, receiver));
    const text = JSON.stringify(response);
    const read = reader.read(text);
    return reply.end((isPromise(read) ? await read : read) ?? text);
  } catch (thrown) {
    return reply.fail(thrown);
  }
}

function messageOf({ body, routed }: Outgoing): JsonObject | null {
  const sent = routed === null ? body : routedBody(routed, '');
  return sent === null ? null : parseObject(Buffer.from(sent).toString('utf8'));
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
async function onConnection<T>(work: Work, renew: () => Promise<Work>, run: Run<T>): Promise<T> {
  const attempt = beginAttempt(work.ctx, work.options.services, calledServer(work.server.document));
  try {
    const done = await once(work, run).catch(async (thrown: unknown) => {
      if (work.ctx.aborted || !wasNotHandled(thrown)) throw thrown;
      const isRejected = thrown.detail === rejectedDetail;
      return once(isRejected && work.tokenId !== null ? await renew() : work, run);
    });
    attempt.ended(200);
    return done;
  } catch (thrown) {
    throw attempt.failed(thrown);
  }
}

async function once<T>(work: Work, run: Run<T>): Promise<T> {
  const { parts, server, ctx, options } = work;
  const session = await sessionOf(work);
  const { headers } = upstreamCall(ctx, {
    ...{ server, sessionId: null, revision: session.revision, body: null, hasRoutingHeaders: false, ownRouting: [] },
    ...{ timeouts: { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 }, prefixes: options.prefixes },
  });
  try {
    return await run(session.sse as SseConnection, headers);
  } catch (thrown) {
    const caller = callerOf(ctx.identity as NonNullable<typeof ctx.identity>, server);
    if (wasNotHandled(thrown)) parts.ownSessions.drop(server, caller, session);
    throw thrown;
  }
}

function wasNotHandled(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && (thrown.detail === lostDetail || thrown.detail === rejectedDetail);
}
