import type { Identity } from '../../contract/plugin/context.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { sendAttempt, type UpstreamResponse } from '../../json-rpc/attempt.ts';
import { messageBytesMax } from '../../json-rpc/relay-reply.ts';
import { canRenew, renewed } from '../credentials/authorised.ts';
import { rejectionOf } from '../credentials/token-rejection.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { clientRouting, isStateless } from '../headers/routing-headers.ts';
import { upstreamCall } from '../headers/upstream-call.ts';
import { sessionNotFound } from '../refusals.ts';
import { metaOf, prefersSession } from '../revisions/handshakes.ts';
import { listenMessage } from '../revisions/listen-statelessly.ts';
import type { Revisions } from '../revisions/translated-reader.ts';
import { calledServer, rejectionIn } from '../server/server-errors.ts';
import { streamOf } from './body-stream.ts';
import { reportsLostSession } from './lost-session.ts';
import { type OwnSession, statelessRevision } from './own-client.ts';
import { askingMethods } from './question-stream.ts';
import { metaOfClient, routedBody, routingHeaders } from './routed-message.ts';
import { callerOf, type SessionState } from './session-id.ts';

interface Sent extends UpstreamResponse {
  /** The client, if the reply must be translated for it. */
  readonly client: Revisions | null;
  /** The session of the gateway in which the request was sent; null for other sessions. */
  readonly own: OwnSession | null;
}

/** A credential is replaced once, and once more if the server then demands scopes. */
const renewalsMax = 2;

/** Sends the request. A credential that the server rejects is replaced. */
export async function sendAuthorised(
  work: Work,
  outgoing: Outgoing,
  named: SessionState | null,
): Promise<Sent & { readonly sender: Work }> {
  let sender = work;
  for (let renewals = 0; ; renewals++) {
    let thrown: unknown;
    const session = renewals === 0 ? named : sessionNamed(sender, outgoing);
    const sent = await sendInSession(sender, outgoing, session).catch((error: unknown) => {
      thrown = error;
      return null;
    });
    const rejection = sent === null ? rejectionIn(thrown) : rejectionOf(sent.status, sent.headers);
    const isFinal = renewals === renewalsMax || (renewals > 0 && rejection?.scope === null);
    const again =
      rejection === null || isFinal || !canRenew(sender) || work.ctx.aborted
        ? null
        : await renewed(sender, { ...rejection, isInvalid: rejection.isInvalid && renewals === 0 });
    if (again === null) {
      if (sent === null) throw thrown;
      return { ...sent, sender };
    }
    sent?.stream.abort();
    sender = again;
  }
}

/**
 * Sends the request in the session that the client names. Requests without a session, of revisions that have them, share a session of
 * the gateway for this caller. It is opened again once if the server has ended it.
 */
async function sendInSession(work: Work, outgoing: Outgoing, named: SessionState | null): Promise<Sent> {
  const { parts, ctx, server } = work;
  const { routed, message, hasRoutingHeaders, isOpening } = outgoing;
  if (named?.client) {
    const own = { ...outgoing, routed: message ?? listenMessage };
    return { ...(await send(work, own, null, statelessRevision, metaOf(named.client))), client: 'sessions', own: null };
  }
  const passes = message !== null && prefersSession(message);
  const isTranslated = hasRoutingHeaders && !passes && parts.revisions.only(server) === 'sessions';
  if (named !== null || isOpening || (hasRoutingHeaders && !isTranslated)) {
    return { ...(await send(work, outgoing, named?.upstream ?? null)), client: null, own: null };
  }
  const caller = callerOf(ctx.identity as Identity, server);
  const sessions = routed !== null || isTranslated ? parts.routedSessions : parts.ownSessions;
  const client = isStateless(ctx.request.header('mcp-protocol-version')) ? 'stateless' : 'sessions';
  const sendIn = async (session: OwnSession): Promise<Sent> => {
    const { sessionId, revision } = session;
    const listening = askingMethods.has(message?.method) ? sessions.listen(server, caller, session) : null;
    if (listening !== null) await listening;
    const translated = message?.method != null && (client === 'stateless') !== isStateless(revision);
    const sent = translated ? { ...outgoing, routed: routed ?? message, hasRoutingHeaders: false } : outgoing;
    // Only a client of the same revision reads a result that asks for input.
    const meta = client === 'stateless' && sent.routed !== null ? metaOfClient(sent.routed) : undefined;
    return { ...(await send(work, sent, sessionId, revision, meta)), client: translated ? client : null, own: session };
  };
  const own = await sessions.get(server, caller);
  const first = await sendIn(own);
  if (ctx.aborted) return first;
  if (first.status === 400) {
    const body = (await first.stream.whole(messageBytesMax)) ?? new Uint8Array();
    if (!reportsLostSession(textOf(body), work.call.id)) return { ...first, stream: streamOf(first.stream, body) };
  } else if (first.status !== 401 && (first.status !== 404 || own.sessionId === null)) return first;
  first.stream.abort();
  sessions.drop(server, caller, own);
  return sendIn(await sessions.get(server, caller));
}

/** `meta` states the client, at a server of the revision without sessions; absent: the gateway. */
async function send(
  work: Work,
  outgoing: Outgoing,
  sessionId: string | null,
  revision: string | null = null,
  meta?: JsonObject,
): Promise<UpstreamResponse> {
  const { ctx, server, options, parts } = work;
  const { routed, message, hasRoutingHeaders } = outgoing;
  const body = routed !== null && revision !== null ? routedBody(routed, revision, meta) : outgoing.body;
  const ofClient = hasRoutingHeaders && message !== null ? clientRouting(ctx.request, message) : [];
  const routing = routed !== null && revision !== null ? routingHeaders(routed, revision) : ofClient;
  const timeoutMs = server.document.timeoutMs ?? parts.requestTimeoutMs;
  const call = upstreamCall(ctx, {
    ...{ server, sessionId, revision, body, routing },
    timeouts: {
      connectMs: parts.connectTimeoutMs,
      firstByteMs: timeoutMs,
      // A stream of notices may be silent.
      idleMs: isListening(work) ? 0 : timeoutMs,
      totalMs: 0,
    },
    prefixes: options.prefixes,
  });
  return sendAttempt(ctx, options, calledServer(server), call);
}

/** True for the streams of notices: that of a session, and that of `subscriptions/listen`. They have no end of their own. */
export function isListening({ ctx, call }: Work): boolean {
  return ctx.request.method === 'GET' || call.method === 'subscriptions/listen';
}

/** The session that the client names; null if it names none. Throws RpcError for one that has ended. */
export function sessionNamed({ parts, ctx, call, server }: Work, { isOpening, routed }: Outgoing): SessionState | null {
  const id = isOpening || routed !== null ? undefined : ctx.request.header('mcp-session-id');
  if (id === undefined) return null;
  const session = parts.sessionIds.open(server.document.id, callerOf(ctx.identity as Identity, server), id);
  if (session !== null && session.settings === server.fingerprint) return session;
  throw sessionNotFound(call);
}

/** Returns the id of a session for its client. It holds the id of the session at the server, and is valid for this caller only. */
export function sealSession({ parts, ctx, server }: Work, upstream: string): string {
  const state = { upstream, settings: server.fingerprint };
  return parts.sessionIds.seal(server.document.id, callerOf(ctx.identity as Identity, server), state);
}
