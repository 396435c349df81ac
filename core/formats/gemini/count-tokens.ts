import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { geminiStreamReader } from './usage.ts';

/** Fields of a generateContent request that `countTokens` does not accept. */
const uncounted: ReadonlySet<string> = new Set(['toolConfig', 'safetySettings', 'cachedContent', 'labels']);

/**
 * Anthropic's token count for Gemini models, by `countTokens` of the request that `messages` would send. Fields needed only for a
 * reply are left out. Unknown ones are passed. `wrap` returns the body if it is not the request itself.
 */
export function geminiCountTokens(
  provider: string,
  messages: Operation,
  modelPath: (call: OperationCall) => string,
  wrap: (request: JsonObject, call: OperationCall) => JsonObject = (request) => request,
): Operation {
  return {
    path: (call) => `${modelPath(call)}:countTokens`,
    toProvider(params, call) {
      const request = messages.toProvider?.(params, call) ?? params;
      return wrap(Object.fromEntries(Object.entries(request).filter(([name]) => !uncounted.has(name))), call);
    },
    fromProvider(reply): JsonObject {
      const { totalTokens, promptTokensDetails: _details, totalBillableCharacters: _characters, ...others } = reply;
      return { input_tokens: typeof totalTokens === 'number' ? totalTokens : 0, ...others };
    },
    usage: () => null,
    streamReader: () => geminiStreamReader(provider),
  };
}
