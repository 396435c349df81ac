import { hasCount, type PassedFormat } from '../../contract/provider/passed-usage.ts';
import { findHeader } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../../contract/values/models/usage.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';
import { usageOf } from './usage.ts';

/** Usage of Converse, and of InvokeModel for models whose own format has none. */
export const bedrockPassed: PassedFormat = {
  locations: { 'amazon-bedrock-invocationMetrics': true },
  read(counts) {
    if (hasCount(counts, 'inputTokens', 'outputTokens')) return usageOf(counts);
    return hasCount(counts, 'inputTokenCount', 'outputTokenCount') ? invocationUsage(counts) : null;
  },
  readHeaders(headers) {
    const input = findHeader(headers, 'x-amzn-bedrock-input-token-count');
    const output = findHeader(headers, 'x-amzn-bedrock-output-token-count');
    if (input === undefined && output === undefined) return null;
    return { inputTokenCount: Number(input ?? 0), outputTokenCount: Number(output ?? 0) };
  },
};

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
