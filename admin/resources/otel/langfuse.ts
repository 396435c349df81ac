import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';
import { statedCount } from '../../../core/contract/values/models/usage.ts';
import type { Attributes } from './items.ts';

const details = 'langfuse.observation.usage_details';

/**
 * Returns the attributes with the usage that Langfuse's SDKs have in a JSON text, under the names of OpenTelemetry's conventions. Returns the same object if there
 * is no such text, or the conventions' names are there already. https://langfuse.com/integrations/native/opentelemetry
 */
export function withLangfuseUsage(attributes: Attributes): Attributes {
  const text = attributes[details];
  if (typeof text !== 'string' || 'gen_ai.usage.input_tokens' in attributes) return attributes;
  const counts = parseObject(text);
  if (counts === null) return attributes;
  const usage = 'prompt_tokens' in counts || 'input_tokens' in counts ? ofProvider(counts) : ofParts(counts);
  const named = Object.entries(usage).map(([name, count]) => [`gen_ai.usage.${name}`, count]);
  return Object.assign(Object.create(null), attributes, Object.fromEntries(named));
}

/** Counts in Langfuse's own names: parts that do not overlap, such as `input`, `input_cached_tokens` and `output_reasoning_tokens`. */
function ofParts(counts: JsonObject): Record<string, number> {
  const sumOf = (pattern: RegExp): number =>
    Object.entries(counts).reduce((sum, [name, count]) => (pattern.test(name) ? sum + tokens(count) : sum), 0);
  return {
    input_tokens: sumOf(/^(?:input|cache_(?:read|creation))(?:_|$)/),
    output_tokens: sumOf(/^output(?:_|$)/),
    'cache_read.input_tokens': sumOf(/^(?:input_)?cache(?:d|_read)(?:_|$)/),
    'cache_creation.input_tokens': sumOf(/^(?:input_)?cache_creation(?:_|$)/),
    'reasoning.output_tokens': sumOf(/^output_reasoning(?:_|$)/),
  };
}

/** Counts in the names of OpenAI, whose input includes what was cached, or of Anthropic, whose input does not. */
function ofProvider(counts: JsonObject): Record<string, number> {
  const input = objectOf(counts.prompt_tokens_details ?? counts.input_tokens_details);
  const output = objectOf(counts.completion_tokens_details ?? counts.output_tokens_details);
  const read = tokens(counts.cache_read_input_tokens);
  const written = tokens(counts.cache_creation_input_tokens);
  return {
    input_tokens: tokens(counts.prompt_tokens ?? counts.input_tokens) + read + written,
    output_tokens: tokens(counts.completion_tokens ?? counts.output_tokens),
    'cache_read.input_tokens': read + tokens(input.cached_tokens),
    'cache_creation.input_tokens': written,
    'reasoning.output_tokens': tokens(output.reasoning_tokens),
  };
}

function tokens(value: unknown): number {
  const count = statedCount(value);
  return count > 0 ? count : 0;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
