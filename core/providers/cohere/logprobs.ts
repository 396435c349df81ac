import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';

/**
 * Converts the provider's list to the `logprobs` of a chat choice. Null without one. An item holds the tokens of one text, whose
 * probability is the product of theirs (https://docs.cohere.com/reference/chat#response.body.logprobs).
 */
export function toLogprobs(items: unknown): JsonObject | null {
  const content = objectsIn(items).flatMap(({ text, logprobs }) => {
    if (typeof text !== 'string' || !Array.isArray(logprobs)) return [];
    const logprob = logprobs.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0);
    return [{ token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: [] }];
  });
  return content.length > 0 ? { content, refusal: null } : null;
}
