import type { PassedUsage } from '../contract/plugin/passed-usage.ts';
import { isObject, type JsonObject } from '../contract/values/json.ts';
import { emptyUsage, serviceTierOf, type Usage } from '../contract/values/usage.ts';
import { usageOf as messagesUsage } from '../formats/anthropic/usage.ts';
import { usageOf as geminiUsage } from '../formats/gemini/usage.ts';
import { mediaUsage, unitUsage } from '../formats/media/media-usage.ts';
import { chatUsage, tokenCount } from '../formats/openai/chat-usage.ts';
import { responsesUsage } from '../formats/openai/responses.ts';
import { eventStream } from './bedrock/event-stream.ts';
import { usageOf as converseUsage } from './bedrock/usage.ts';
import { usageOf as cohereUsage } from './cohere/usage.ts';

/** The formats of all providers, distinguished by the names of their counts. */
export const passedUsage: PassedUsage = { read, frames: eventStream };

function read(counts: JsonObject, serviceTier: unknown): Usage | null {
  const usage = countsOf(counts);
  if (usage === null) return null;
  const tier = isObject(serviceTier) ? serviceTier.type : serviceTier;
  return usage.serviceTier === null ? { ...usage, serviceTier: serviceTierOf(tier) } : usage;
}

function countsOf(counts: JsonObject): Usage | null {
  const has = (...names: readonly string[]): boolean => names.some((name) => typeof counts[name] === 'number');
  if (has('promptTokenCount', 'candidatesTokenCount', 'totalTokenCount')) return geminiUsage(withCandidates(counts));
  if (isObject(counts.billed_units) || isObject(counts.tokens)) return cohereCounts(counts);
  if (has('input_tokens', 'output_tokens', 'seconds')) return inputOutputUsage(counts);
  if (has('prompt_tokens', 'completion_tokens', 'total_tokens')) return chatUsage(counts);
  if (has('inputTokens', 'outputTokens')) return converseUsage(counts);
  if (has('inputTokenCount', 'outputTokenCount')) return invocationUsage(counts);
  if (has('prompt_eval_count', 'eval_count')) return ollamaUsage(counts);
  return has('pages_processed') ? unitUsage('pages', counts.pages_processed as number, counts) : null;
}

/** The Live API calls them responses: https://ai.google.dev/api/live#usagemetadata */
function withCandidates(counts: JsonObject): JsonObject {
  if (counts.responseTokenCount === undefined || counts.candidatesTokenCount !== undefined) return counts;
  const { responseTokenCount, responseTokensDetails } = counts;
  return { ...counts, candidatesTokenCount: responseTokenCount, candidatesTokensDetails: responseTokensDetails };
}

function cohereCounts(counts: JsonObject): Usage {
  const billed = isObject(counts.billed_units) ? counts.billed_units : {};
  return typeof billed.search_units === 'number' ? unitUsage('search_units', billed.search_units, counts) : cohereUsage(counts);
}

/** `input_tokens` excludes cached tokens in Anthropic's counts and includes them in OpenAI's, which have details of them. */
function inputOutputUsage(counts: JsonObject): Usage {
  if ('cache_read_input_tokens' in counts || 'cache_creation_input_tokens' in counts) return messagesUsage(counts);
  const media = mediaUsage(counts);
  if (media.units.audio_seconds !== undefined) return media;
  const { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens } = media;
  return { ...responsesUsage(counts), audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens };
}

/** `amazon-bedrock-invocationMetrics`, and the headers of InvokeModel: counts of models whose own format has none. */
function invocationUsage(counts: JsonObject): Usage {
  return {
    ...emptyUsage(),
    inputTokens: tokenCount(counts.inputTokenCount),
    cacheReadTokens: tokenCount(counts.cacheReadInputTokenCount),
    cacheWriteTokens: tokenCount(counts.cacheWriteInputTokenCount),
    outputTokens: tokenCount(counts.outputTokenCount),
    raw: counts,
  };
}

/** https://github.com/ollama/ollama/blob/main/docs/api.md */
function ollamaUsage(counts: JsonObject): Usage {
  const inputTokens = tokenCount(counts.prompt_eval_count);
  return { ...emptyUsage(), inputTokens, outputTokens: tokenCount(counts.eval_count), raw: counts };
}
