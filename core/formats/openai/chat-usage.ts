import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, serviceTierOf, statedCount, type Usage, unitsPerCallMax } from '../../contract/values/models/usage.ts';

/**
 * Converts the `usage` object of chat completions, completions and embeddings. Covers the names under which compatible providers
 * send the same number: DeepSeek's `prompt_cache_hit_tokens`, Mistral's `num_cached_tokens`, OpenRouter's `cache_write_tokens`,
 * Perplexity's top-level `reasoning_tokens`. `serviceTier` is the tier that the reply reports beside its usage. Mistral reports it
 * within.
 */
export function chatUsage(raw: JsonObject, serviceTier: unknown = null): Usage {
  const input = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {};
  const output = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {};
  const total = tokenCount(raw.total_tokens);
  const promptTokens = tokenCount(raw.prompt_tokens ?? (raw.completion_tokens === undefined ? total : 0));
  const completionTokens = tokenCount(raw.completion_tokens);
  const cached = input.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.num_cached_tokens;
  const cacheReadTokens = Math.min(promptTokens, tokenCount(cached));
  const cacheWriteTokens = Math.min(promptTokens - cacheReadTokens, tokenCount(input.cache_write_tokens));
  const reasoningTokens = tokenCount(output.reasoning_tokens ?? raw.reasoning_tokens);
  return {
    ...emptyUsage(),
    inputTokens: promptTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: completionTokens + reasoningOutside(promptTokens, completionTokens, reasoningTokens, total),
    reasoningTokens,
    audioInputTokens: tokenCount(input.audio_tokens),
    audioOutputTokens: tokenCount(output.audio_tokens),
    serviceTier: serviceTierOf(serviceTier ?? raw.service_tier),
    raw,
  };
}

/** Returns a count as whole number ≥ 0, limited to what one call can use. Other values become 0. */
export function tokenCount(value: unknown): number {
  const count = statedCount(value);
  return count > 0 && Number.isFinite(count) ? Math.min(Math.round(count), unitsPerCallMax) : 0;
}

/**
 * xAI counts reasoning beside `completion_tokens`, all other providers within it. The total shows which sum applies.
 * https://docs.x.ai/docs/key-information/consumption-and-rate-limits
 */
function reasoningOutside(prompt: number, completion: number, reasoning: number, total: number): number {
  return reasoning > 0 && total === prompt + completion + reasoning ? reasoning : 0;
}
