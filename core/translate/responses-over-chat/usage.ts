import type { JsonObject } from '../../contract/values/json.ts';
import { totalTokens, type Usage } from '../../contract/values/usage.ts';

/** Converts usage to the `usage` of a response: `input_tokens` is all input, cached or not. */
export function responseUsage(usage: Usage): JsonObject {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalTokens(usage),
  };
}
