import type { StreamReader } from '../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { laterMembers } from '../../contract/values/json/later-members.ts';
import { emptyUsage, serviceTierOf, statedCount, totalTokens, type Usage } from '../../contract/values/models/usage.ts';
import { ChoiceEnds } from '../choice-ends.ts';
import { tokenCount } from '../openai/chat-usage.ts';
import { streamError } from './errors.ts';
import { addGrounding, newSearches, searchesOf, withSearches } from './searches.ts';

/** Returns the tokens and searches of a plain generateContent reply. Null if it carries no `usageMetadata`. */
export function usageOfReply(reply: JsonObject): Usage | null {
  return isObject(reply.usageMetadata) ? withSearches(usageOf(reply.usageMetadata), searchesOf(reply.candidates)) : null;
}

/** Converts Gemini's token counts. Its prompt count includes cached tokens; its candidates count excludes reasoning. */
export function usageOf(counts: JsonObject): Usage {
  const prompt = tokenCount(counts.promptTokenCount);
  const cacheReadTokens = Math.min(prompt, tokenCount(counts.cachedContentTokenCount));
  const reasoningTokens = tokenCount(counts.thoughtsTokenCount);
  return {
    ...emptyUsage(),
    inputTokens: prompt - cacheReadTokens + tokenCount(counts.toolUsePromptTokenCount),
    cacheReadTokens,
    outputTokens: tokenCount(counts.candidatesTokenCount) + reasoningTokens,
    reasoningTokens,
    audioInputTokens: tokensOf('AUDIO', counts.promptTokensDetails),
    audioOutputTokens: tokensOf('AUDIO', counts.candidatesTokensDetails),
    imageInputTokens: tokensOf('IMAGE', counts.promptTokensDetails),
    imageOutputTokens: tokensOf('IMAGE', counts.candidatesTokensDetails),
    serviceTier: serviceTierOf(counts.serviceTier ?? tierOfTraffic(counts.trafficType)),
    raw: counts,
  };
}

/** Vertex AI states the tier as `ON_DEMAND_PRIORITY`, `ON_DEMAND_FLEX`, … Its other types of traffic are not tiers. */
function tierOfTraffic(type: unknown): string | null {
  return typeof type === 'string' && type.startsWith('ON_DEMAND_') ? type.slice('ON_DEMAND_'.length) : null;
}

/**
 * Merges the counts of a stream. Counts with a total cover the whole reply and replace earlier ones: a count that is missing in
 * them is 0, even if an earlier event had one. Other counts, sent before the end, are added to the known ones.
 */
export function laterCounts(counts: JsonObject | null, later: unknown): JsonObject | null {
  if (!isObject(later)) return counts;
  return !Number.isNaN(statedCount(later.totalTokenCount)) ? later : laterMembers(counts, later);
}

/** Converts usage to the `usage` of a chat completion. `prompt_tokens` is all input, cached or not. */
export function toChatUsage(usage: Usage, strict: boolean): JsonObject {
  const { inputTokens, cacheReadTokens, outputTokens, reasoningTokens, audioInputTokens, audioOutputTokens } = usage;
  return {
    prompt_tokens: inputTokens + cacheReadTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: cacheReadTokens, audio_tokens: audioInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: audioOutputTokens },
    ...(strict ? {} : { cache_read_input_tokens: cacheReadTokens }),
  };
}

/**
 * Reads a streamGenerateContent stream. It has no terminal event. It is complete when every candidate that began has a finish
 * reason, or when the prompt was refused.
 */
export function geminiStreamReader(provider: string): StreamReader {
  let counts: JsonObject | null = null;
  let refused = false;
  let error: GatewayError | null = null;
  const choices = new ChoiceEnds();
  const searches = newSearches();
  return {
    push({ data }) {
      if (!isObject(data)) return;
      if (isObject(data.error)) error ??= streamError(provider, data.error);
      counts = laterCounts(counts, data.usageMetadata);
      if (isObject(data.promptFeedback) && typeof data.promptFeedback.blockReason === 'string') refused = true;
      for (const candidate of objectsIn(data.candidates)) {
        choices.follow(candidate.index ?? 0, typeof candidate.finishReason === 'string');
        addGrounding(searches, candidate);
      }
    },
    usage: () => (counts === null ? null : withSearches(usageOf(counts), searches)),
    complete: () => error === null && (refused || choices.areComplete),
    error: () => error,
  };
}

function tokensOf(modality: string, details: unknown): number {
  const parts = objectsIn(details);
  return parts.filter((part) => part.modality === modality).reduce((sum, part) => sum + tokenCount(part.tokenCount), 0);
}
