import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { asksForUsage } from './chat-request.ts';

/** Writes the chunks of one streamed chat completion. */
export interface ChatChunks {
  /** The reply's id, null until the provider sent one or the first chunk was written, and its model. */
  readonly head: { id: string | null; model: string };
  /** True if the client asked for a last chunk with token counts. */
  readonly withUsage: boolean;
  chunk(fields: JsonObject): StreamEvent;
  /** Returns a chunk of one choice with these fields. */
  choiceOf(fields: JsonObject): StreamEvent;
  /** Returns a chunk of the only choice. */
  choice(delta: JsonObject, finishReason?: string | null): StreamEvent;
  /** Returns a chunk of the only choice, or none for an empty delta. */
  emit(delta: JsonObject, logprobs?: JsonObject | null): StreamEvent[];
}

/**
 * Writes chunks in OpenAI's form (https://platform.openai.com/docs/api-reference/chat-streaming) for a provider with another
 * format.
 */
export function chatChunks(call: OperationCall, provider: string): ChatChunks {
  const withUsage = asksForUsage(call.params);
  const head: ChatChunks['head'] = { id: null, model: call.model };
  const chunk = (fields: JsonObject): StreamEvent => {
    head.id ??= call.newId('chatcmpl-');
    const { id, model } = head;
    return { event: null, data: { id, object: 'chat.completion.chunk', created: call.nowSeconds, model, provider, ...fields } };
  };
  const choiceOf = (fields: JsonObject): StreamEvent => chunk({ choices: [fields], ...(withUsage ? { usage: null } : {}) });
  const choice = (delta: JsonObject, finishReason: string | null = null, logprobs: JsonObject | null = null): StreamEvent =>
    choiceOf({ index: 0, delta, logprobs, finish_reason: finishReason });
  const emit = (delta: JsonObject, logprobs: JsonObject | null = null): StreamEvent[] =>
    Object.keys(delta).length === 0 ? [] : [choice(delta, null, logprobs)];
  return { head, withUsage, chunk, choiceOf, choice, emit };
}
