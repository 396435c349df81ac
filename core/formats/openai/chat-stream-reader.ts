import type { StreamEvent, StreamReader } from '../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { ChoiceEnds } from '../choice-ends.ts';
import { chatUsage } from './chat-usage.ts';
import { errorObject, streamError } from './provider-error.ts';

/**
 * Follows a stream of chat or text completion chunks. It is complete at `[DONE]`, or once every choice that began has ended:
 * some compatible servers close without `[DONE]`, and their replies are whole.
 */
export function chatStreamReader(id: string): StreamReader {
  let raw: JsonObject | null = null;
  let serviceTier: unknown = null;
  let done = false;
  let error: GatewayError | null = null;
  let errorEvent: StreamEvent | null = null;
  const choices = new ChoiceEnds();
  return {
    unused: unusedMembers,
    push(event) {
      const { data } = event;
      const failure = errorIn(event);
      if (failure !== null && error === null) {
        error = streamError(id, failure);
        errorEvent = withErrorObject(event, failure);
      }
      if (!isObject(data)) {
        if (data.trim() === '[DONE]') done = true;
        return;
      }
      raw = usageIn(data) ?? raw;
      if (data.service_tier) serviceTier = data.service_tier;
      if (!Array.isArray(data.choices)) return;
      for (const choice of data.choices) {
        if (isObject(choice)) choices.follow(choice.index, typeof choice.finish_reason === 'string');
      }
    },
    usage: () => (raw === null ? null : chatUsage(raw, serviceTier)),
    complete: () => error === null && (done || choices.areComplete),
    error: () => error,
    errorEvent: () => errorEvent,
  };
}

const unusedMembers = ['content', 'text', 'reasoning_content', 'reasoning', 'refusal', 'arguments', 'obfuscation', 'p'];

/**
 * Returns the error in an event of a chat stream, null for none. It is under `error`, or is the event itself: `{"object": "error",
 * "message"}` (Mistral), `{"message", "type", "code"}` (Cerebras), `{"detail"}` (FastAPI servers), or anything in an event named `error`.
 */
export function errorIn({ event, data }: StreamEvent): unknown {
  const isNamed = event === 'error';
  if (typeof data === 'string') return isNamed && data.trim() !== '[DONE]' ? data : null;
  if (data.error) return data.error;
  return isNamed || data.object === 'error' || isBareError(data) ? data : null;
}

/** Returns an event with this error in the form of OpenAI, null if it has this form. */
export function withErrorObject({ event, data }: StreamEvent, error: unknown): StreamEvent | null {
  return isObject(data) && isObject(data.error) ? null : { event, data: { error: errorObject(error) } };
}

/** True for a body of an error response. Other events have choices, an `object`, or a `type` of their own. */
function isBareError(data: JsonObject): boolean {
  if (data.choices !== undefined || data.object !== undefined) return false;
  const { message, detail, type } = data;
  if (![message, detail].some((text) => (typeof text === 'string' || Array.isArray(text)) && text.length > 0)) return false;
  return type === undefined || type === null || 'code' in data || /error|exception/i.test(String(type));
}

/** Returns the token counts of a chunk. Groq also sends them under a name of its own. */
function usageIn(chunk: JsonObject): JsonObject | null {
  if (isObject(chunk.usage)) return chunk.usage;
  return isObject(chunk.x_groq) && isObject(chunk.x_groq.usage) ? chunk.x_groq.usage : null;
}
