import type { JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, totalTokens, type Usage } from '../../contract/values/models/usage.ts';

/**
 * Converts usage to the `usage` of a finished response: `input_tokens` is all input, cached or not. Null becomes zeros, because clients
 * require the counts that OpenAI always returns: the Vercel AI SDK up to version 6 ignores a last event without them.
 */
export function responseUsage(given: Usage | null): JsonObject {
  const usage = given ?? emptyUsage();
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalTokens(usage),
  };
}
