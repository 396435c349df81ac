import * as v from 'valibot';
import type { Identity } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { beginAttempt } from '../../json-rpc/attempt.ts';
import { watchCaller } from '../../json-rpc/watch-caller.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { emptyReply } from '../local-replies/local-replies.ts';
import type { Question } from '../peers/peers.ts';
import { sessionNotFound } from '../refusals.ts';
import { checksWithoutTool } from '../server/checks-without-tool.ts';
import { listeningOf } from '../server/listening.ts';
import { calledServer, lostDetail, noSessionDetail, rejectionIn } from '../server/server-errors.ts';
import { messageReader } from '../server/server-messages.ts';
import { refuseWith } from '../sessions/reply-to-question.ts';
import { callerOf, type SessionState } from '../sessions/session-id.ts';
import { eventReply, onDisconnect, readMessage, sendRead } from './sse-reply.ts';
import type { SseSessionAddress } from './sse-sessions.ts';

const address = v.object({ process: v.string(), id: v.string() });

/** Replies to `initialize` with a session of the client at the server. `renew` returns the work with another token of the caller. */
export async function openSseSession(
  work: Work,
  initialize: JsonObject,
  renew: () => Promise<Work | null>,
): Promise<AttemptReply> {
  const { parts, ctx, server } = work;
  const open = (one: Work) => parts.sseSessions.open(parts.ownSessions.partsOf(one.server), initialize);
  const opened = await counted(work, () =>
    open(work).catch(async (thrown: unknown) => {
      const again = rejectionIn(thrown) === null ? null : await renew();
      if (again === null) throw thrown;
      return open(again);
    }),
  );
  const state = { upstream: JSON.stringify(opened.address), settings: server.fingerprint };
  const id = parts.sessionIds.seal(server.document.id, callerOf(ctx.identity as Identity, server), state);
  const headers = ['content-type', 'application/json', 'mcp-session-id', id];
  return { kind: 'replaced', reply: { status: 200, headers, body: JSON.stringify(opened.response) } };
}

/** Serves a request in a session of the client. `headers` are those of the message to the server. */
export async function exchangeInSseSession(
  work: Work,
  outgoing: Outgoing,
  session: SessionState,
  message: JsonObject | null,
  headers: string[],
): Promise<AttemptReply> {
  const { ctx, call } = work;
  const at: SseSessionAddress = v.parse(address, JSON.parse(session.upstream));
  try {
    if (ctx.request.method === 'GET') return await stream(work, at);
    if (message === null) {
      await work.parts.sseSessions.run(at, { action: 'end', message: {}, headers }, silent);
      return emptyReply(200);
    }
    const isRequest = call.id !== null && message.method !== undefined;
    if (isRequest) return await request(work, outgoing, at, message, headers);
    await counted(work, () => work.parts.sseSessions.run(at, { action: 'notify', message, headers }, silent));
    return emptyReply(202);
  } catch (thrown) {
    const isOver = thrown instanceof GatewayError && (thrown.detail === noSessionDetail || thrown.detail === lostDetail);
    if (!isOver) throw thrown;
    throw sessionNotFound(call);
  }
}

async function request(
  work: Work,
  { checks }: Outgoing,
  at: SseSessionAddress,
  message: JsonObject,
  headers: string[],
): Promise<AttemptReply> {
  const { ctx, call, server, parts } = work;
  const reply = eventReply(work, call.id);
  const reader = messageReader({ server, call, checks, session: null, refuse: refuseAt(work, at) });
  const events = sendRead(reply, reader);
  const question: Question = { onEvent: events.send, onCancel: onDisconnect(ctx) };
  try {
    const response = await counted(work, () => parts.sseSessions.run(at, { action: 'request', message, headers }, question));
    await events.sent();
    return reply.end(await readMessage(reader, response));
  } catch (thrown) {
    return reply.fail(thrown);
  }
}

/** The stream of the session, which ends with the session. */
async function stream(work: Work, at: SseSessionAddress): Promise<AttemptReply> {
  const { ctx, parts, server, call } = work;
  await parts.sseSessions.run(at, { action: 'check', message: {}, headers: [] }, silent);
  const reply = eventReply(work, null);
  const checks = await checksWithoutTool(work);
  const reader = messageReader({ server, call, checks, session: null, refuse: refuseAt(work, at) });
  const events = sendRead(reply, reader);
  reply.open();
  let end = (): void => {};
  const removed = parts.openStreams.add(() => end());
  const unwatch = watchCaller(ctx, listeningOf(work).find, () => end());
  try {
    const question: Question = {
      onEvent: events.send,
      onCancel(cancel) {
        end = cancel;
        onDisconnect(ctx)(cancel);
        if (parts.openStreams.isClosed) cancel();
      },
    };
    await parts.sseSessions.run(at, { action: 'listen', message: {}, headers: [] }, question).catch(() => undefined);
    return reply.end(null);
  } finally {
    unwatch();
    removed();
  }
}

function refuseAt({ parts }: Work, at: SseSessionAddress) {
  return refuseWith((message) => parts.sseSessions.run(at, { action: 'notify', message, headers: [] }, silent));
}

/** Runs as an attempt at the server. */
async function counted<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const attempt = await beginAttempt(work.ctx, work.options.services, calledServer(work.server));
  try {
    const done = await run();
    attempt.ended(200);
    return done;
  } catch (thrown) {
    throw attempt.failed(thrown);
  }
}

const silent: Question = { onEvent: () => {}, onCancel: () => {} };
