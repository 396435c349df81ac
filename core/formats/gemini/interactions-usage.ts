import { hasCount, type PassedFormat } from '../../contract/provider/passed-usage.ts';
import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { usageOf } from './usage.ts';

/**
 * Reads the usage of Gemini's Interactions API, plain and in its events. Its input count includes cached tokens, its output count excludes
 * reasoning. https://ai.google.dev/api/interactions-api#Resource:Usage
 */
export const interactionsPassed: PassedFormat = {
  locations: { interaction: { usage: true }, metadata: { total_usage: true } },
  read: (counts) => (hasCount(counts, 'total_input_tokens', 'total_output_tokens') ? interactionUsage(counts) : null),
};

function interactionUsage(counts: JsonObject): Usage {
  const usage = usageOf({
    promptTokenCount: counts.total_input_tokens,
    cachedContentTokenCount: counts.total_cached_tokens,
    toolUsePromptTokenCount: counts.total_tool_use_tokens,
    candidatesTokenCount: counts.total_output_tokens,
    thoughtsTokenCount: counts.total_thought_tokens,
    promptTokensDetails: detailsOf(counts.input_tokens_by_modality),
    candidatesTokensDetails: detailsOf(counts.output_tokens_by_modality),
  });
  return { ...usage, raw: counts };
}

/** Returns counts by modality under the names that `generateContent` has for them. */
function detailsOf(modalities: unknown): JsonObject[] {
  return objectsIn(modalities).map(({ modality, tokens }) => ({ modality: String(modality).toUpperCase(), tokenCount: tokens }));
}
