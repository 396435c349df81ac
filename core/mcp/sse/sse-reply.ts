import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { isPromise } from '../../contract/values/maybe.ts';
import { eventText } from '../../contract/values/text/event-text.ts';
import type { MessageReader } from '../../json-rpc/message-reader.ts';
import { errorBody, RpcError, type RpcId, rpcCodes } from '../../json-rpc/messages.ts';
import { addGatewayHeaders } from '../../pipeline/attempt/reply-headers.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Work } from '../exchange.ts';
import { messageText } from '../server/message-text.ts';

/** The reply to a request: JSON, or an event stream from the first message on. */
export interface EventReply {
  /** Begins the event stream, for the stream of a session. */
  open(): void;
  /** Sends a message before the reply. A client that reads slowly misses messages, so that they are not held in memory. */
  send(message: JsonObject): void;
  /** Sends the reply; null: the stream ends without one. */
  end(text: string | null): AttemptReply;
  /** Throws the error again if nothing was sent yet. */
  fail(thrown: unknown): AttemptReply;
}

/** `id`: id of the request, for its error; null for the stream of a session. */
export function eventReply({ ctx, sink, options }: Pick<Work, 'ctx' | 'sink' | 'options'>, id: RpcId | null): EventReply {
  let isOpen = false;
  let isFull = false;
  /** True after a denied question of the server: its denial is the reply. */
  let isReplied = false;
  const write = (text: string): void => {
    const bytes = Buffer.from(eventText(text, 'message'));
    ctx.replyBytes += bytes.length;
    ctx.content?.add(bytes);
    if (!sink.write(bytes)) isFull = true;
  };
  const streamed: AttemptReply = { kind: 'streamed', status: 200, error: null, errorSent: false, raw: true };
  return {
    open() {
      open();
      // The head is sent with the first bytes.
      sink.write(Buffer.from(': open\n\n'));
    },
    send(message) {
      if (message.method === undefined && message.id === id) isReplied = true;
      if (!isOpen) open();
      if (!isFull) write(JSON.stringify(message));
    },
    end(text) {
      if (!isOpen) {
        return { kind: 'replaced', reply: { status: 200, headers: ['content-type', 'application/json'], body: text ?? '' } };
      }
      if (text !== null && text !== '') write(text);
      return streamed;
    },
    fail(thrown) {
      if (!isOpen) throw thrown;
      if (isReplied) return streamed;
      if (thrown instanceof RpcError) write(errorBody(id, thrown.rpcCode, thrown.message, thrown.data));
      else write(errorBody(id, rpcCodes.internal, thrown instanceof GatewayError ? thrown.message : 'Internal error'));
      return streamed;
    },
  };

  function open(): void {
    isOpen = true;
    ctx.stream = true;
    ctx.firstByteAtMs ??= options.services.clock.elapsed();
    const headers = ['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
    addGatewayHeaders(ctx, headers, 200, null);
    if (ctx.content !== null) ctx.content.headers = headers;
    sink.start(200, headers);
    sink.onDrain(() => {
      isFull = false;
    });
  }
}

/** Returns a function that takes how to cancel a request, for when the client disconnects. */
export function onDisconnect(ctx: RequestContext): (cancel: () => void) => void {
  return (cancel) => {
    ctx.abortUpstream = cancel;
    if (ctx.aborted) cancel();
  };
}

/** Sends messages of a server before its reply. */
export interface ReadEvents {
  /** Sends a message as the reader changes it; nothing for one that may not be sent. */
  readonly send: (message: JsonObject) => void;
  /** Resolves when every message was read and sent. */
  sent(): Promise<void>;
}

/** Characters of messages that may wait for their checks. Further ones are not sent, as to a client that reads slowly. */
const waitingMax = 1024 * 1024;

/**
 * Passes messages of a server through the reader to the reply, in their order. Drops messages that cannot be checked, and those beyond
 * `waitingMax`.
 */
export function sendRead(reply: Pick<EventReply, 'send'>, reader: MessageReader): ReadEvents {
  let last: Promise<void> | null = null;
  let waiting = 0;
  const give = (message: JsonObject, text: string | null): void => {
    if (text !== '') reply.send(text === null ? message : (JSON.parse(text) as JsonObject));
  };
  const read = (message: JsonObject, json: string): Promise<void> | null => {
    try {
      const text = reader.read(json);
      if (isPromise(text)) return text.then((given) => give(message, given)).catch(() => undefined);
      give(message, text);
    } catch {
      // A message that cannot be checked is not sent.
    }
    return null;
  };
  return {
    send(message) {
      const json = JSON.stringify(message);
      if (last === null) {
        last = read(message, json);
        return;
      }
      if (waiting > 0 && waiting + json.length > waitingMax) return;
      waiting += json.length;
      last = last.then(() => {
        waiting -= json.length;
        return read(message, json) ?? undefined;
      });
    },
    async sent() {
      await last;
    },
  };
}

/** Returns the JSON of a message of a server as `reader` changes it. */
export async function readMessage(reader: MessageReader, message: JsonObject): Promise<string> {
  const text = messageText(message);
  const read = reader.read(text);
  return (isPromise(read) ? await read : read) ?? text;
}
