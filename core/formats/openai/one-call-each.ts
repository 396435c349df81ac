import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Divides a chunk of one choice before each of its tool calls except the first. OpenAI sends one call per chunk, and clients such as
 * LlamaIndex read only the first call of each. The last chunk has finish reason and token counts. Returns other chunks as they are.
 */
export function oneCallEach(chunk: JsonObject): JsonObject[] {
  const [choice, ...others] = Array.isArray(chunk.choices) ? chunk.choices : [];
  if (others.length > 0 || !isObject(choice) || !isObject(choice.delta)) return [chunk];
  const { tool_calls: calls, ...delta } = choice.delta;
  if (!Array.isArray(calls) || calls.length < 2) return [chunk];
  const { usage: _, ...head } = chunk;
  return calls.map((call: unknown, at) => {
    const isLast = at === calls.length - 1;
    const own = { ...choice, delta: { ...(at === 0 ? delta : {}), tool_calls: [call] } };
    return isLast ? { ...chunk, choices: [own] } : { ...head, choices: [{ ...own, finish_reason: null }] };
  });
}
