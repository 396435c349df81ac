import { isObject, type JsonObject } from '../../contract/json.ts';
import { emptyUsage, totalTokens, type Usage } from '../../contract/usage.ts';
import { tokenCount } from '../shared/chat-usage.ts';

/** Tokens of a chat reply, or of the `delta` that ends a stream; null when it carries no `usage`. */
export function usageOfReply(reply: JsonObject): Usage | null {
  return isObject(reply.usage) ? usageOf(reply.usage) : null;
}

/**
 * The provider's counts as ours. `billed_units` are what is paid for; `tokens` also count what the provider itself adds to the
 * prompt, and stand in where nothing is billed.
 */
export function usageOf(raw: JsonObject): Usage {
  const billed = isObject(raw.billed_units) ? raw.billed_units : {};
  const tokens = isObject(raw.tokens) ? raw.tokens : {};
  const input = tokenCount(billed.input_tokens ?? tokens.input_tokens);
  const cacheReadTokens = Math.min(input, tokenCount(raw.cached_tokens));
  return {
    ...emptyUsage(),
    inputTokens: input - cacheReadTokens,
    cacheReadTokens,
    outputTokens: tokenCount(billed.output_tokens ?? tokens.output_tokens),
    raw,
  };
}

/** Our counts as the `usage` of a chat completion. */
export function toChatUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.inputTokens + usage.cacheReadTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
  };
}
