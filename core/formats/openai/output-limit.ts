import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';

/**
 * OpenAI's reasoning models: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
 * (https://github.com/vercel/ai/issues/3309, https://github.com/mnfst/llm-gateway/issues/1878, https://github.com/anomalyco/opencode/issues/37964).
 * Families are matched by the first digit of their version, because Azure's `gpt-35-turbo` and a deployment `gpt-41` have two. Looked up 2026-11-30.
 */
const rejectsMaxTokens = /(^|[/.:])(o[1-9]|gpt-[5-9])(?![a-z\d])/i;

/**
 * Sends `max_tokens` as `max_completion_tokens` if one of these names is a model that rejects the older parameter. Returns the same object if
 * nothing changes: a call with both parameters gets the provider's error.
 */
export function withNewerLimit(params: JsonObject, call: OperationCall, models: readonly unknown[] = [call.model]): JsonObject {
  if (typeof params.max_tokens !== 'number' || 'max_completion_tokens' in params) return params;
  if (!models.some((model) => typeof model === 'string' && rejectsMaxTokens.test(model))) return params;
  const { max_tokens: limit, ...others } = params;
  call.adapted.push('max_tokens->max_completion_tokens');
  return { ...others, max_completion_tokens: limit };
}
