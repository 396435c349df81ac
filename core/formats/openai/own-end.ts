import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Divides a chunk that ends its only choice: what it adds, then the finish reason with an empty delta, as OpenAI sends them. OpenAI's SDK
 * for Go reports a finished call or text at the first chunk without it. The last chunk has the token counts. Returns other chunks as
 * they are.
 */
export function withOwnEnd(chunk: JsonObject): JsonObject[] {
  const [choice, ...others] = Array.isArray(chunk.choices) ? chunk.choices : [];
  if (others.length > 0 || !isObject(choice) || typeof choice.finish_reason !== 'string') return [chunk];
  const { delta, logprobs, ...end } = choice;
  if (!isObject(delta) || Object.keys(delta).length === 0) return [chunk];
  const { usage: _, ...head } = chunk;
  const scores = logprobs === undefined ? {} : { logprobs };
  return [
    { ...head, choices: [{ index: choice.index, delta, ...scores, finish_reason: null }] },
    { ...chunk, choices: [{ ...end, delta: {}, ...(logprobs === undefined ? {} : { logprobs: null }) }] },
  ];
}
