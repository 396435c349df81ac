import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { messageFromEvents } from '../../../core/contract/plugin/text/message-from-events.ts';
import type { CachedReply, ReplyForm } from '../../../core/contract/protocol/cached-replies.ts';
import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';
import { isEventStream } from '../../../core/contract/values/text/event-text.ts';
import { textOf } from '../../../core/contract/values/text/utf8.ts';
import { chatFromEvents, chatToEvents } from './chat.ts';
import { readEvents } from './events.ts';
import { messageToEvents } from './messages.ts';
import { responseFromEvents, responseToEvents } from './responses.ts';

interface Format {
  /** Assembles the reply; null if that is not possible without loss. */
  fromEvents(events: readonly JsonObject[]): JsonObject | null;
  toEvents(reply: JsonObject, withUsage: boolean): string | null;
}

const chat: Format = { fromEvents: chatFromEvents, toEvents: chatToEvents };

/** Formats of the operations that stream, so that plain replies and streams share entries. */
const formats: Readonly<Record<string, Format>> = {
  chatComplete: chat,
  complete: chat,
  messages: { fromEvents: messageFromEvents, toEvents: messageToEvents },
  createModelResponse: { fromEvents: responseFromEvents, toEvents: responseToEvents },
};

/** Returns true if plain replies and streams of this operation share entries. */
export function sharesForms(operation: string | null): boolean {
  return operation !== null && operation in formats;
}

/** Assembles the reply of a stream of this operation, also without usage. Null if it cannot be assembled. */
export function mergeStream(operation: string | null, stream: string): JsonObject | null {
  const events = readEvents(stream);
  const format = formats[operation ?? ''];
  if (!events || !format) return null;
  const whole = format.fromEvents(events);
  if (whole !== null || format !== chat) return whole;
  const { usage: _, ...reply } = format.fromEvents([...events, { choices: [], usage: {} }]) ?? {};
  return 'choices' in reply ? reply : null;
}

/** Returns the form of a reply with this content type. Some providers reply with JSON although events were requested. */
export function formOfReply(ctx: RequestContext, contentType: string): ReplyForm {
  const asked = formOf(ctx);
  if (!isEventStream(contentType)) return 'plain';
  return asked === 'plain' ? 'stream' : asked;
}

/** Returns the form of reply that a request asks for. */
export function formOf({ stream, params, endpoint }: RequestContext): ReplyForm {
  if (!stream) return 'plain';
  const options = params?.stream_options;
  const isChat = endpoint?.operation === 'chatComplete' || endpoint?.operation === 'complete';
  return isChat && isObject(options) && options.include_usage === true ? 'stream-with-usage' : 'stream';
}

/** Returns a stored reply in another form; null if it cannot be converted without loss. */
export function convertReply(operation: string | null, reply: CachedReply, form: ReplyForm): CachedReply | null {
  if (reply.form === form) return reply;
  const format = formats[operation ?? ''];
  // Requests of other operations share an entry only if they ask for the same form.
  if (!format) return reply;
  if (reply.contentEncoding !== null) return null;
  const text = textOf(reply.body);
  const events = reply.form === 'plain' ? null : readEvents(text);
  const whole = reply.form === 'plain' ? parseObject(text) : events && format.fromEvents(events);
  if (!whole) return null;
  if (form === 'plain') {
    return { ...reply, form, contentType: 'application/json', body: Buffer.from(JSON.stringify(whole)) };
  }
  const stream = format.toEvents(whole, form === 'stream-with-usage');
  if (stream === null) return null;
  return { ...reply, form, contentType: 'text/event-stream; charset=utf-8', body: Buffer.from(stream) };
}
