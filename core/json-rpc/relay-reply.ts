import { isUtf8 } from 'node:buffer';
import type { RequestContext } from '../contract/plugin/context.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList, type ReplySink } from '../contract/values/http/http.ts';
import { retryAfterMs } from '../contract/values/http/retry-after.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { EventFrames } from '../contract/values/text/event-frames.ts';
import { dataOf, eventText } from '../contract/values/text/event-text.ts';
import { textOf, unmarkedTextOf } from '../contract/values/text/utf8.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { ExchangeStream } from '../pipeline/attempt/exchange-stream.ts';
import { addGatewayHeaders } from '../pipeline/attempt/reply-headers.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import { changedFrame, knownLines, type MessageReader, readFrame } from './message-reader.ts';
import type { OpenStreams } from './open-streams.ts';
import { watchCaller } from './watch-caller.ts';

/** Maximum length of a JSON reply in bytes, as of an event of a stream. */
export const messageBytesMax = 32 * 1024 * 1024;

/**
 * Reads a JSON reply whole, and returns it with its message changed by `reader`, with `sentStatus`. `isRequired`: an empty reply is an error.
 * Throws GatewayError `upstream_invalid`, and `upstream_status` for an error that is no message: with its own status and `retry-after` if the
 * upstream asks to wait.
 */
export async function relayJson(
  status: number,
  headers: HeaderList,
  exchange: ExchangeStream,
  reader: MessageReader,
  { sentStatus = status, isRequired = false }: { readonly sentStatus?: number; readonly isRequired?: boolean } = {},
): Promise<AttemptReply> {
  const whole = exchange.whole(messageBytesMax);
  const body = isPromise(whole) ? await whole : whole;
  if (body === null) {
    throw new GatewayError('upstream_invalid', {
      message: `The upstream sent a reply of more than ${messageBytesMax} bytes`,
    });
  }
  // A client would read other text than the gateway has checked.
  const isJson = /\bjson\b/i.test(findHeader(headers, 'content-type') ?? '');
  if (isJson && !isUtf8(body))
    throw new GatewayError('upstream_invalid', { message: 'The upstream sent a reply that is not UTF-8' });
  if (body.length === 0 && isRequired)
    throw new GatewayError('upstream_invalid', { message: 'The upstream sent an empty reply' });
  // Clients remove a byte order mark.
  const read = body.length === 0 ? null : reader.read(unmarkedTextOf(body) ?? textOf(body));
  const changed = isPromise(read) ? await read : read;
  if (changed === '') {
    if (status >= 400) throw statusError(status, headers);
    throw new GatewayError('upstream_invalid', { message: 'The upstream replied to another request' });
  }
  return { kind: 'replaced', reply: { status: sentStatus, headers, body: changed ?? body } };
}

function statusError(status: number, headers: HeaderList): GatewayError {
  return new GatewayError('upstream_status', {
    ...(status === 429 || status === 503 ? { status } : {}),
    message: `The upstream replied with status ${status}`,
    retryAfterMs: retryAfterMs(headers) ?? undefined,
  });
}

const opening = Buffer.from(': open\n\n');

/** Sent while an event waits, so that idle timeouts do not close the connection. */
const waiting = Buffer.from(': checking\n\n');

/** Ends a stream that does not end by itself. */
export interface Listening {
  /** The streams that end when the process stops. */
  readonly streams: OpenStreams;
  /** Finds the server again. Throws if the caller has lost its access. */
  readonly find: () => Maybe<unknown>;
}

export interface StreamParts {
  readonly ctx: RequestContext;
  readonly sink: ReplySink;
  readonly status: number;
  readonly headers: HeaderList;
  readonly exchange: Pick<ExchangeStream, 'body' | 'abort'>;
  /** Null: the bytes pass unread. */
  readonly reader: MessageReader | null;
  readonly clock: Clock;
  /** For a stream without an end of its own; null for a reply that ends by itself. */
  readonly listening: Listening | null;
  /**
   * Returns the message that replaces the reply if the stream fails; null if the client has its reply. Absent: the connection is cut, which
   * clients notice late.
   */
  readonly failure?: (error: GatewayError) => string | null;
  /** Returns true if a stream that has ended lacks the reply to its request. Absent: any end is one. */
  readonly isIncomplete?: () => boolean;
}

/** Sends a stream to the client as it arrives, event by event. A slow client pauses the server. */
export async function relayStream(parts: StreamParts): Promise<AttemptReply> {
  const { ctx, sink, status, headers, exchange, reader, clock, listening } = parts;
  ctx.stream = true;
  headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
  addGatewayHeaders(ctx, headers, status, null);
  if (ctx.content !== null) ctx.content.headers = headers;
  sink.start(status, headers);
  let drained: (() => void) | null = null;
  sink.onDrain(() => drained?.());
  const frames = new EventFrames((bytes) => ctx.holdBytes(bytes, 'response'));
  const held: string[] = [];
  let heldLength = 0;
  let isResumable = false;
  let refusal: GatewayError | null = null;
  const closed = listening?.streams.add(() => exchange.abort());
  const unwatch = listening
    ? watchCaller(ctx, listening.find, (error) => {
        refusal = error;
        exchange.abort();
      })
    : null;
  try {
    // The head is sent with the first bytes, and the stream of a session may have no event for a long time.
    if (ctx.request.method === 'GET') await write(opening);
    for await (const chunk of exchange.body) {
      if (reader === null) await write(chunk);
      else for (const frame of frames.push(chunk)) await writeFrame(reader, frame);
    }
    const rest = reader === null ? '' : frames.rest();
    if (reader !== null && rest !== '') await writeFrame(reader, rest);
    if (held.length > 0) await release(reader as MessageReader);
    // Behind the id of an event the client can ask again.
    if (!isResumable && parts.isIncomplete?.()) {
      throw new GatewayError('upstream_invalid', { message: 'The upstream ended its stream without a reply' });
    }
    return { kind: 'streamed', status, error: null, errorSent: false, raw: true };
  } catch (thrown) {
    exchange.abort();
    // A stream without an end of its own ends here. The client opens it again, at another process.
    const error = refusal ?? (listening?.streams.isClosed ? null : toGatewayError(thrown));
    // A client that has the id of an event can continue behind it, unless the server sent what no client may get.
    const mayEnd = error !== null && !ctx.aborted && (!isResumable || error.code === 'upstream_invalid');
    const text = mayEnd ? (parts.failure?.(error) ?? null) : null;
    if (text !== null) add(Buffer.from(eventText(text)));
    return { kind: 'streamed', status, error, errorSent: text !== null, raw: true };
  } finally {
    unwatch?.();
    closed?.();
  }

  async function writeFrame(reader: MessageReader, received: string): Promise<void> {
    const frame = knownLines(received);
    isResumable ||= hasId(frame);
    const text = readFrame(reader, frame);
    const sent = isPromise(text) ? await text : text;
    if (reader.hold?.isHolding && dataOf(frame) !== null) return hold(frame);
    if (sent !== '') await write(Buffer.from(sent));
  }

  async function hold(frame: string): Promise<void> {
    heldLength += frame.length;
    if (heldLength > messageBytesMax) {
      throw new GatewayError('upstream_invalid', { message: `A stream of more than ${messageBytesMax} bytes cannot be checked` });
    }
    ctx.holdBytes(frame.length, 'response');
    held.push(frame);
    await write(waiting);
  }

  async function release(reader: MessageReader): Promise<void> {
    const texts = (await reader.hold?.release()) ?? [];
    for (const [index, frame] of held.entries()) {
      const sent = changedFrame(frame, texts[index] ?? null);
      if (sent !== '') await write(Buffer.from(sent));
    }
  }

  function add(bytes: Uint8Array): boolean {
    ctx.replyBytes += bytes.length;
    ctx.firstByteAtMs ??= clock.elapsed();
    ctx.content?.add(bytes);
    return sink.write(bytes);
  }

  async function write(bytes: Uint8Array): Promise<void> {
    if (add(bytes) || ctx.aborted) return;
    await new Promise<void>((resolve) => {
      drained = resolve;
      ctx.abortUpstream = () => {
        exchange.abort();
        resolve();
      };
    });
  }
}

function hasId(frame: string): boolean {
  return frame.startsWith('id:') || /[\n\r]id:/.test(frame);
}
