import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage } from '../../contract/values/models/usage.ts';
import { errorIn } from '../../formats/openai/chat-stream-reader.ts';
import { errorObject } from '../../formats/openai/provider-error.ts';
import { withToolIndexes } from '../../formats/openai/tool-indexes.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';
import { ChatMessageReader } from '../chat-message-reader.ts';
import { idInFormat, keepFields, passedFields } from '../reply-fields.ts';
import { blockSequence } from './block-sequence.ts';
import { messagesUsage, reportMessagesChoice } from './reply.ts';
import { endingOf } from './stop-reason.ts';

/**
 * Translates chat completion chunks to Messages events. A chat stream sends token counts last, so `message_start` carries zeros
 * and `message_delta` the counts, with the top-level fields of later chunks. `message_stop` is sent at `[DONE]`, or at the end of
 * a stream whose choice had ended, because some servers close without `[DONE]`. A truncated stream gets neither. `seals` as in
 * `toMessagesReply`.
 */
export function messagesStream(chat: Operation, chatCall: OperationCall, call: OperationCall, seals: boolean): StreamTranslator {
  const inner = chat.translateStream?.(chatCall) ?? null;
  const reader = chat.streamReader();
  const blocks = blockSequence(call, seals);
  const messages = new ChatMessageReader(blocks, call);
  let started = false;
  const indexed = withToolIndexes();
  let over = false;
  /** The choice that stated the finish reason. */
  let last: JsonObject | null = null;
  /** Top-level fields that the reply preserves: those of the first chunk, and others that arrived later. */
  let opening: JsonObject = {};
  const later: JsonObject = {};

  const start = (chunk: JsonObject): StreamEvent[] => {
    if (started) return [];
    started = true;
    opening = passedFields(chunk);
    const message = {
      ...opening,
      id: idInFormat('msg_', chunk.id, call),
      type: 'message',
      role: 'assistant',
      model: typeof chunk.model === 'string' && chunk.model !== '' ? chunk.model : call.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messagesUsage(emptyUsage()),
    };
    return [messagesEvent({ type: 'message_start', message })];
  };

  const finish = (): StreamEvent[] => {
    if (over) return [];
    over = true;
    const begun = start({});
    const closing = [...messages.finish(), ...blocks.finish()].map(messagesEvent);
    const usage = messagesUsage(reader.usage() ?? emptyUsage());
    return [
      ...begun,
      ...closing,
      messagesEvent({ ...later, type: 'message_delta', delta: endingOf(last ?? {}, blocks), usage }),
      messagesEvent({ type: 'message_stop' }),
    ];
  };

  const onChunk = (event: StreamEvent): StreamEvent[] => {
    if (over) return [];
    const { data } = event;
    const error = errorIn(event);
    if (error !== null) {
      over = true;
      // Until the first byte is sent, the pipeline can fall back to another target.
      return started ? [messagesEvent(errorOf(error, reader.error?.()?.status ?? 500))] : [];
    }
    if (typeof data === 'string') return data.trim() === '[DONE]' ? finish() : [];
    if (started) keepFields(later, data, opening);
    const { choices } = indexed(data);
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isObject(choice)) return [];
    if (choice.index !== undefined && choice.index !== 0) {
      dropFromReply(call, 'choices');
      return [];
    }
    if (typeof choice.finish_reason === 'string') last = choice;
    reportMessagesChoice(choice, call);
    const begun = start(data);
    return [...begun, ...(isObject(choice.delta) ? messages.add(choice.delta, choice.logprobs).map(messagesEvent) : [])];
  };

  return {
    push(event) {
      reader.push(event);
      return (inner === null ? [event] : inner.push(event)).flatMap(onChunk);
    },
    end() {
      const events = (inner?.end() ?? []).flatMap(onChunk);
      return last === null ? events : [...events, ...finish()];
    },
  };
}

function messagesEvent(data: JsonObject): StreamEvent {
  return { event: String(data.type), data };
}

/** Clients of the Messages API decide by the type whether they repeat the call. */
function errorOf(error: unknown, status: number): JsonObject {
  const { message } = errorObject(error);
  return { type: 'error', error: { type: messagesErrorType(status), message } };
}
