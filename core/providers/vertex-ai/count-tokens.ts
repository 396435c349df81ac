import type { Operation } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { geminiStreamReader } from '../../formats/gemini/usage.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';

/** Fields of a generateContent request that `countTokens` does not accept. */
const uncounted: ReadonlySet<string> = new Set(['toolConfig', 'safetySettings', 'cachedContent', 'labels']);

/**
 * Anthropic's token count for Gemini models, by `countTokens` of the request that `messages` would send. Fields needed only for a
 * reply are left out. Unknown ones are passed.
 */
export function geminiCountTokens(messages: Operation): Operation {
  return {
    path: (call) => `${locationPath(call.settings, vertexModel(call.model).path)}:countTokens`,
    toProvider(params, call) {
      const request = messages.toProvider?.(params, call) ?? params;
      return Object.fromEntries(Object.entries(request).filter(([name]) => !uncounted.has(name)));
    },
    fromProvider(reply): JsonObject {
      const { totalTokens, promptTokensDetails: _details, totalBillableCharacters: _characters, ...others } = reply;
      return { input_tokens: typeof totalTokens === 'number' ? totalTokens : 0, ...others };
    },
    usage: () => null,
    streamReader: () => geminiStreamReader('vertex-ai'),
  };
}
