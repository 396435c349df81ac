import type { StreamReader } from '../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, serviceTierOf, totalTokens, type Usage } from '../../contract/values/models/usage.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';
import { eventError } from './errors.ts';

/** Returns the tokens of a plain Converse reply. Null if it carries no `usage`. */
export function usageOfReply(reply: JsonObject): Usage | null {
  if (!isObject(reply.usage)) return null;
  // This field is beside the counts, in plain replies and in the `metadata` of streams.
  const serviceTier = serviceTierOf(isObject(reply.serviceTier) ? reply.serviceTier.type : null);
  return { ...usageOf(reply.usage), serviceTier };
}

/**
 * Converts the provider's token counts. `inputTokens` excludes both cache counts; `outputTokens` includes reasoning, which has no
 * count of its own.
 */
export function usageOf(counts: JsonObject): Usage {
  return {
    ...emptyUsage(),
    inputTokens: tokenCount(counts.inputTokens),
    cacheReadTokens: tokenCount(counts.cacheReadInputTokens),
    cacheWriteTokens: tokenCount(counts.cacheWriteInputTokens),
    outputTokens: tokenCount(counts.outputTokens),
    raw: counts,
  };
}

/** Converts usage to the `usage` of a chat completion: `prompt_tokens` is all input, cached or not. */
export function toChatUsage(usage: Usage, strict: boolean): JsonObject {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  return {
    prompt_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    ...(strict ? {} : { cache_read_input_tokens: cacheReadTokens, cache_creation_input_tokens: cacheWriteTokens }),
  };
}

/** Reads a Converse stream: its end from `messageStop`, counts from the `metadata` that follows it. */
export function converseStreamReader(): StreamReader {
  let usage: Usage | null = null;
  let complete = false;
  let error: GatewayError | null = null;
  return {
    push(item) {
      const { event, data } = item;
      if (!isObject(data)) return;
      if (event === 'metadata') usage = usageOfReply(data) ?? usage;
      else if (event === 'messageStop') complete = true;
      else error = eventError(item) ?? error;
    },
    usage: () => usage,
    complete: () => complete,
    error: () => error,
  };
}
