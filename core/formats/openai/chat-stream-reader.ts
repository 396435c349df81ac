import type { StreamReader } from '../../contract/provider/provider.ts';
import type { GatewayError } from '../../contract/values/errors.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { isObject } from '../../contract/values/json.ts';
import { chatUsage } from './chat-usage.ts';
import { streamError } from './provider-error.ts';

/**
 * Follows a stream of chat or text completion chunks. It is complete at `[DONE]`, or once every choice that began has ended:
 * some compatible servers close without `[DONE]`, and their replies are whole.
 */
export function chatStreamReader(id: string): StreamReader {
  let raw: JsonObject | null = null;
  let serviceTier: unknown = null;
  let done = false;
  let error: GatewayError | null = null;
  const begun = new Set<unknown>();
  const ended = new Set<unknown>();
  return {
    unused: unusedMembers,
    push(event) {
      const { data } = event;
      if (!isObject(data)) {
        if (data.trim() === '[DONE]') done = true;
        return;
      }
      const failure = errorIn(data);
      if (failure !== null) error ??= streamError(id, failure);
      raw = usageIn(data) ?? raw;
      if (data.service_tier) serviceTier = data.service_tier;
      if (!Array.isArray(data.choices)) return;
      for (const choice of data.choices) {
        if (!isObject(choice)) continue;
        begun.add(choice.index);
        if (typeof choice.finish_reason === 'string') ended.add(choice.index);
      }
    },
    usage: () => (raw === null ? null : chatUsage(raw, serviceTier)),
    complete: () => error === null && (done || (begun.size > 0 && ended.size === begun.size)),
    error: () => error,
  };
}

const unusedMembers = ['content', 'text', 'reasoning_content', 'reasoning', 'refusal', 'arguments', 'obfuscation', 'p'];

/**
 * Returns the error in an event of a chat stream, null for none. It is under `error`, or is the event itself (`{"object":
 * "error", "message"}`, as Mistral sends it).
 */
export function errorIn(data: JsonObject): unknown {
  if (data.error) return data.error;
  return data.object === 'error' ? data : null;
}

/** Returns the token counts of a chunk. Groq also sends them under a name of its own. */
function usageIn(chunk: JsonObject): JsonObject | null {
  if (isObject(chunk.usage)) return chunk.usage;
  return isObject(chunk.x_groq) && isObject(chunk.x_groq.usage) ? chunk.x_groq.usage : null;
}
