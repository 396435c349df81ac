import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { framesIn } from '../../contract/values/text/event-frames.ts';
import { dataOf } from '../../contract/values/text/event-text.ts';
import { isAmbiguous, otherMember } from '../../json-rpc/messages.ts';
import { type ExchangeStream, exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import { parsedMessage } from '../server/message-text.ts';
import { ownReply } from '../sessions/reply-to-question.ts';
import { PendingRequests, type SseReceiver } from './pending-requests.ts';
import { endpointOf, lostError, openCall, postMessage, type SseParts, timedOut } from './sse-calls.ts';

/** A connection is used this long. Then it ends with its last request, and the next one opens another connection. */
const lifeMs = 600_000;

/**
 * A connection of the transport HTTP+SSE (revision 2024-11-05): one stream with all messages of the server, and a POST for each message to
 * it. The ids and progress tokens of requests are replaced, so that several clients of one caller can share a connection.
 */
export interface SseConnection {
  /** True if no further message can be sent. */
  readonly isClosed: boolean;
  /** Sends a request and returns the response under the id of the request. Rejects with GatewayError `upstream_…`. */
  request(message: JsonObject, headers: HeaderList, receiver?: SseReceiver): Promise<JsonObject>;
  /** Sends a notice. Rejects as `request` does. */
  notify(message: JsonObject, headers: HeaderList): Promise<void>;
  /** Cancels the request that a notice `notifications/cancelled` names. */
  cancel(notice: JsonObject): void;
  /** Resolves when no further message can be sent or received. */
  readonly closed: Promise<void>;
  /** Ends the connection once its last request has its response. */
  end(): void;
}

/** Returns true if the message was taken. */
export type OnMessage = (message: JsonObject) => boolean;

/**
 * Opens a connection. `onMessage` receives questions and notices of the server, for the one client of the connection. The gateway replies itself
 * to questions for which it returns false. Rejects with GatewayError `upstream_…`.
 */
export async function openSse(parts: SseParts, onMessage?: OnMessage): Promise<SseConnection> {
  const { server, timeouts, streams } = parts;
  const pending = new PendingRequests(timeouts.idleMs, endIfIdle);
  let closedBy: GatewayError | null = null;
  let isEnding = false;
  let isReplying = false;
  let endpoint: string | null = null;
  let settle: { resolve(): void; reject(error: GatewayError): void };
  const ready = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const stream = exchangeStream(parts.sender, openCall(parts));
  let removed: (() => void) | undefined;
  const late = setTimeout(() => close(timedOut()), timeouts.firstByteMs || lifeMs);
  const old = onMessage ? undefined : setTimeout(end, lifeMs).unref();
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  removed = streams?.add(end);
  void listen(stream).then(
    () => close(new GatewayError('upstream_reset', { message: 'The MCP server closed its event stream' })),
    (thrown) => close(toGatewayError(thrown)),
  );
  await ready;

  return {
    get isClosed() {
      return closedBy !== null || isEnding;
    },
    request(message, headers, receiver = {}) {
      if (closedBy !== null) return Promise.reject(lostError(closedBy));
      const { id, sent, response } = pending.add(message, receiver, cancel);
      post(sent, headers).catch((thrown) => pending.fail(id, toGatewayError(thrown)));
      return response;
    },
    notify: post,
    cancel: ({ params }) => pending.cancel(isObject(params) ? params.requestId : undefined),
    closed,
    end,
  };

  function close(error: GatewayError): void {
    if (closedBy !== null) return;
    closedBy = error;
    clearTimeout(late);
    clearTimeout(old);
    removed?.();
    stream.abort();
    settle.reject(error);
    pending.failAll(error);
    onClosed();
  }

  function end(): void {
    isEnding = true;
    endIfIdle();
  }

  function endIfIdle(): void {
    if (isEnding && pending.size === 0) close(new GatewayError('upstream_reset'));
  }

  function cancel(requestId: number): void {
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
    void post(message, []).catch(() => undefined);
  }

  async function listen({ head, body }: ExchangeStream): Promise<void> {
    const { status } = await head;
    if (status !== 200) throw lostError(null, status);
    for await (const frames of framesIn(body)) frames.forEach(receive);
  }

  function receive(frame: string): void {
    const data = dataOf(frame);
    if (data === null) return;
    if (/^event: ?endpoint\r?$/m.test(frame)) {
      endpoint ??= endpointOf(server, data);
      clearTimeout(late);
      settle.resolve();
      return;
    }
    const message = parsedMessage(data);
    // A client could take such a message for the response to its request.
    if (message === null || isAmbiguous(message) || otherMember(message) !== null) return;
    if (message.method === 'notifications/progress') pending.progress(isObject(message.params) ? message.params : {}, message);
    else if (message.method === undefined) pending.settle(message);
    else if (!onMessage?.(message)) void reply(message);
  }

  /** One reply at a time: a flood gets no more. */
  async function reply({ id, method }: JsonObject): Promise<void> {
    if (isReplying || (typeof id !== 'number' && typeof id !== 'string')) return;
    isReplying = true;
    await post(ownReply({ id, method }), []).catch(() => undefined);
    isReplying = false;
  }

  async function post(message: JsonObject, headers: HeaderList): Promise<void> {
    if (closedBy !== null) throw lostError(closedBy);
    const status = await postMessage(parts, endpoint as string, message, headers);
    if (status >= 200 && status < 300) return;
    const error = lostError(null, status);
    // The session has ended at the server.
    if (status === 401 || status === 404) close(error);
    throw error;
  }
}
