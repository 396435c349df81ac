import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { spokenUsage } from '../../contract/values/models/spoken-usage.ts';
import { emptyUsage, statedCount, type Usage, type UsageUnit } from '../../contract/values/models/usage.ts';
import { tokenCount } from '../openai/chat-usage.ts';

/**
 * Converts the `usage` object of OpenAI's audio and image routes: `{input_tokens, output_tokens}` with details of text, audio and
 * image tokens, or `{type: "duration", seconds}`. https://platform.openai.com/docs/api-reference/audio/json-object and
 * …/images/object
 */
export function mediaUsage(raw: JsonObject): Usage {
  const seconds = statedCount(raw.seconds);
  if (!Number.isNaN(seconds) && raw.input_tokens === undefined) return unitUsage('audio_seconds', seconds, raw);
  const input = firstObject(raw.input_tokens_details, raw.input_token_details);
  const output = firstObject(raw.output_tokens_details, raw.output_token_details);
  const inputTokens = tokenCount(raw.input_tokens);
  const cacheReadTokens = Math.min(inputTokens, tokenCount(input.cached_tokens));
  return {
    ...emptyUsage(),
    inputTokens: inputTokens - cacheReadTokens,
    cacheReadTokens,
    outputTokens: tokenCount(raw.output_tokens),
    audioInputTokens: tokenCount(input.audio_tokens),
    audioOutputTokens: tokenCount(output.audio_tokens),
    imageInputTokens: tokenCount(input.image_tokens),
    imageOutputTokens: tokenCount(output.image_tokens),
    raw,
  };
}

/** Returns usage in one unit other than tokens. Amounts that are not positive numbers are left out. */
export function unitUsage(unit: UsageUnit, amount: number, raw: JsonObject | null): Usage {
  return { ...emptyUsage(), units: amount > 0 && Number.isFinite(amount) ? { [unit]: amount } : {}, raw };
}

/** Returns the usage with this amount of a unit. Unchanged if the amount is not a positive number. */
export function withUnit(usage: Usage | null, unit: UsageUnit, amount: number): Usage | null {
  if (!(amount > 0) || !Number.isFinite(amount)) return usage;
  const counted = usage ?? emptyUsage();
  return { ...counted, units: { ...counted.units, [unit]: amount } };
}

/** Returns the usage of speech whose response states none. */
export function spokenCharacters({ params: { input }, model }: OperationCall): Usage | null {
  return typeof input === 'string' && input !== '' ? spokenUsage(input, model) : null;
}

function firstObject(...values: readonly unknown[]): JsonObject {
  return values.find(isObject) ?? {};
}
