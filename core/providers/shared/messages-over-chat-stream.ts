import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall, StreamEvent, StreamTranslator } from '../../contract/provider.ts';
import { emptyUsage } from '../../contract/usage.ts';
import { type BlockSequence, blockSequence } from './messages-block-sequence.ts';
import { messagesUsage, reasoningText, spokenText } from './messages-over-chat-reply.ts';
import { stopReasonOf } from './messages-stop-reason.ts';

/**
 * Chat completion chunks as Messages events. Token counts come last in a chat stream, so `message_start` carries zeros and
 * `message_delta` the counts. `message_stop` is sent at `[DONE]`, or at the end of a stream whose choice had ended: some servers
 * close without `[DONE]`. A stream that was cut before gets neither.
 */
export function messagesStream(chat: Operation, chatCall: OperationCall, call: OperationCall): StreamTranslator {
  const inner = chat.translateStream?.(chatCall) ?? null;
  const reader = chat.streamReader();
  const blocks = blockSequence();
  let started = false;
  let over = false;
  let finishReason: string | null = null;
  let refused = false;

  const start = (chunk: JsonObject): StreamEvent[] => {
    if (started) return [];
    started = true;
    const message = {
      id: typeof chunk.id === 'string' && chunk.id !== '' ? chunk.id : call.newId('msg_'),
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
    const opening = start({});
    const stopReason = refused ? 'refusal' : stopReasonOf(finishReason, blocks.callsTools());
    const usage = messagesUsage(reader.usage() ?? emptyUsage());
    return [
      ...opening,
      ...blocks.finish().map(messagesEvent),
      messagesEvent({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage }),
      messagesEvent({ type: 'message_stop' }),
    ];
  };

  const onChunk = ({ data }: StreamEvent): StreamEvent[] => {
    if (over) return [];
    if (typeof data === 'string') return data.trim() === '[DONE]' ? finish() : [];
    if (data.error) {
      over = true;
      // Before the first byte another target can still answer, so nothing may be sent then.
      return started ? [messagesEvent(errorOf(data.error))] : [];
    }
    const choice = Array.isArray(data.choices) ? data.choices[0] : undefined;
    if (!isObject(choice) || (choice.index !== undefined && choice.index !== 0)) return [];
    const delta = isObject(choice.delta) ? choice.delta : {};
    if (delta.refusal) refused = true;
    if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
    return [...start(data), ...deltaEvents(delta, blocks).map(messagesEvent)];
  };

  return {
    push(event) {
      reader.push(event);
      return (inner === null ? [event] : inner.push(event)).flatMap(onChunk);
    },
    end() {
      const last = (inner?.end() ?? []).flatMap(onChunk);
      return finishReason === null ? last : [...last, ...finish()];
    },
  };
}

function deltaEvents(delta: JsonObject, blocks: BlockSequence): JsonObject[] {
  const events: JsonObject[] = [];
  const nativeBlocks = Array.isArray(delta.content_blocks) ? delta.content_blocks.filter(isObject) : [];
  for (const { delta: piece } of nativeBlocks) if (isObject(piece)) events.push(...thoughtEvents(piece, blocks));
  if (nativeBlocks.length === 0) events.push(...blocks.thinking(reasoningText(delta)));
  events.push(...blocks.text(spokenText(delta)));
  for (const toolCall of Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isObject) : []) {
    events.push(...blocks.tool(toolCall));
  }
  return events;
}

/** Thoughts of providers that hand out Anthropic's own blocks, so that their signatures come through. */
function thoughtEvents(piece: JsonObject, blocks: BlockSequence): JsonObject[] {
  if (piece.type === 'redacted_thinking') return blocks.whole(piece);
  if (typeof piece.thinking === 'string' && piece.thinking !== '') return blocks.thinking(piece.thinking);
  return typeof piece.signature === 'string' && piece.signature !== '' ? blocks.signature(piece.signature) : [];
}

function messagesEvent(data: JsonObject): StreamEvent {
  return { event: String(data.type), data };
}

function errorOf(error: unknown): JsonObject {
  const message = isObject(error) && typeof error.message === 'string' ? error.message : String(error);
  return { type: 'error', error: { type: 'api_error', message } };
}
