import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, totalTokens, type Usage } from '../../contract/values/models/usage.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';

/** Returns the tokens of a chat reply, or of the `delta` that ends a stream. Null if it carries no `usage`. */
export function usageOfReply(reply: JsonObject): Usage | null {
  return isObject(reply.usage) ? usageOf(reply.usage) : null;
}

/**
 * Converts the provider's counts. `tokens` counts everything that the model read and wrote, and `cached_tokens` is a part of its
 * input. `billed_units` leaves out text that the provider adds itself, and is used if `tokens` is absent. Prices use it by `raw`.
 */
export function usageOf(raw: JsonObject): Usage {
  const billed = isObject(raw.billed_units) ? raw.billed_units : {};
  const tokens = isObject(raw.tokens) ? raw.tokens : {};
  const input = tokenCount(tokens.input_tokens ?? billed.input_tokens);
  const cacheReadTokens = Math.min(input, tokenCount(raw.cached_tokens));
  return {
    ...emptyUsage(),
    inputTokens: input - cacheReadTokens,
    cacheReadTokens,
    outputTokens: tokenCount(tokens.output_tokens ?? billed.output_tokens),
    raw,
  };
}

/** Converts usage to the `usage` of a chat completion. */
export function toChatUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.inputTokens + usage.cacheReadTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
  };
}
