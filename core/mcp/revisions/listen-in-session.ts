import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { after } from '../../contract/values/maybe.ts';
import { eventText } from '../../contract/values/text/event-text.ts';
import { type ClientMessage, isAmbiguous } from '../../json-rpc/messages.ts';
import { relayStream } from '../../json-rpc/relay-reply.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Work } from '../exchange.ts';
import { checksWithoutTool } from '../server/checks-without-tool.ts';
import { listeningOf } from '../server/listening.ts';
import { messageReader } from '../server/server-messages.ts';
import { closeSession, initialize, openNotices, request, sendReply } from '../sessions/own-client.ts';
import { ownReply, replyWith } from '../sessions/reply-to-question.ts';
import type { SseConnection } from '../sse/sse-connection.ts';
import { onDisconnect } from '../sse/sse-reply.ts';
import { statelessResult } from './translated-reader.ts';

/** Members of a subscription, with the notices of sessions that they ask for. */
export const subscriptionNotices: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
};
const resourcesMax = 1_000;
/** Notices that wait for a client. */
const waitingMax = 100;
export const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

/** Serves `subscriptions/listen` at a server with sessions: with a session of its own, which ends with the stream. */
export async function listenInSession(work: Work, message: ClientMessage): Promise<AttemptReply> {
  const { parts, ctx, call, sink, server, options } = work;
  const own = parts.routedSessions.partsOf(server);
  const ofConnection = new NoticeStream();
  const session = await initialize(own, ofConnection.add);
  const end = (): void => void closeSession(own, session).catch(() => undefined);
  try {
    const stream = session.sse ? ofConnection.follow(session.sse) : await openNotices(own, session);
    const wanted = isObject(message.params.notifications) ? message.params.notifications : {};
    const granted: JsonObject = {};
    const notices = new Set<string>();
    if (stream !== null) {
      for (const [name, notice] of Object.entries(subscriptionNotices)) {
        if (wanted[name] !== true) continue;
        granted[name] = true;
        notices.add(notice);
      }
      const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions.slice(0, resourcesMax) : [];
      for (const uri of uris) {
        if (ctx.aborted) break;
        await request(own, session, 'resources/subscribe', { uri });
      }
      if (uris.length > 0) granted.resourceSubscriptions = uris;
      if (uris.length > 0) notices.add('notifications/resources/updated');
    }
    const _meta = { [subscriptionKey]: message.id };
    const acknowledged = JSON.stringify({
      ...{ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' },
      params: { notifications: granted, _meta },
    });
    const ended = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: statelessResult(null, { _meta }) });
    const checked = messageReader({ server, call, checks: await checksWithoutTool(work), session: null });
    // Without replies to its pings, a server may end the session.
    const onQuestion = replyWith((reply) => sendReply(own, session, reply), ownReply);
    onDisconnect(ctx)(() => stream?.abort());
    return await relayStream({
      ...{ ctx, sink, status: 200, headers: ['content-type', 'text/event-stream'], clock: options.services.clock },
      listening: listeningOf(work),
      exchange: {
        abort: () => stream?.abort(),
        body: (async function* () {
          yield Buffer.from(eventText(acknowledged));
          if (stream !== null) yield* stream.body;
          yield Buffer.from(eventText(ended));
        })(),
      },
      reader: {
        read(json) {
          // A server that sends the same text sends nothing else with it.
          if (json === acknowledged || json === ended) return null;
          const notice = noticeFor(json, notices, _meta, onQuestion);
          return notice === '' ? '' : after(checked.read(notice), (text) => text ?? notice);
        },
      },
    });
  } finally {
    end();
  }
}

/** The notices of a server of HTTP+SSE as an event stream. */
class NoticeStream {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly #body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
  });

  /** Takes notices. The gateway replies to questions itself. */
  readonly add = (message: JsonObject): boolean => {
    if (message.id !== undefined) return false;
    // A client that reads slowly misses notices, so that they are not held in memory.
    if ((this.#controller?.desiredSize ?? 0) > -waitingMax) {
      this.#controller?.enqueue(Buffer.from(eventText(message)));
    }
    return true;
  };

  /** Returns the stream. It ends with its connection. */
  follow(connection: SseConnection) {
    void connection.closed.then(() => this.#controller?.close());
    return { body: this.#body as AsyncIterable<Uint8Array>, abort: () => connection.end() };
  }
}

/**
 * Returns a notice with the id of the subscription; an empty text for all other messages of the server, which a client could take for
 * replies to its requests.
 */
function noticeFor(
  json: string,
  notices: ReadonlySet<string>,
  _meta: JsonObject,
  onQuestion: (message: JsonObject) => void,
): string {
  const message = hasTooManyValues(json) ? null : parseObject(json);
  if (message === null || isAmbiguous(message)) return '';
  if (typeof message.method === 'string' && message.id !== undefined) onQuestion(message);
  if (!notices.has(String(message.method)) || message.id !== undefined) return '';
  const params = isObject(message.params) ? message.params : {};
  return JSON.stringify({ ...message, params: { ...params, _meta } });
}
