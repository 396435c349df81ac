import type { JsonObject } from '../../contract/values/json/json.ts';
import { totalTokens, type Usage } from '../../contract/values/models/usage.ts';

/** Converts usage to the `usage` of a chat completion: `prompt_tokens` is all input, cached or not. */
export function asChatUsage(usage: Usage): JsonObject {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
