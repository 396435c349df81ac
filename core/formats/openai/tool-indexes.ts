import type { JsonObject } from '../../contract/values/json.ts';
import { isObject } from '../../contract/values/json.ts';

/**
 * Adds the `index` to tool calls in a stream's chunks. Some servers leave it out (Mistral since January 2026), and OpenAI's
 * clients reject a call without one. A call with a new id is the next call. A piece without an id belongs to the last one.
 * Returns the same chunk if no index is missing.
 */
export function withToolIndexes(): (chunk: JsonObject) => JsonObject {
  /** Ids of calls by choice and index. */
  const calls = new Map<unknown, unknown[]>();
  const indexOf = (known: unknown[], id: unknown): number => {
    if (typeof id !== 'string' || id === '') return Math.max(0, known.length - 1);
    const at = known.indexOf(id);
    return at === -1 ? known.push(id) - 1 : at;
  };
  const completed = (choice: unknown): unknown => {
    const toolCalls = toolCallsOf(choice);
    if (!isObject(choice) || !isObject(choice.delta) || toolCalls === null) return choice;
    const known = calls.get(choice.index) ?? [];
    calls.set(choice.index, known);
    const tool_calls = toolCalls.map((call: unknown) => {
      if (!isObject(call)) return call;
      if (typeof call.index !== 'number') return { index: indexOf(known, call.id), ...call };
      known[call.index] ??= call.id;
      return call;
    });
    return { ...choice, delta: { ...choice.delta, tool_calls } };
  };
  return (chunk) => {
    const { choices } = chunk;
    if (!Array.isArray(choices) || !choices.some(hasToolCalls)) return chunk;
    const lacks = choices.some((choice) => toolCallsOf(choice)?.some((call) => isObject(call) && typeof call.index !== 'number'));
    if (!lacks && calls.size === 0) return chunk;
    return { ...chunk, choices: choices.map(completed) };
  };
}

function hasToolCalls(choice: unknown): boolean {
  return toolCallsOf(choice) !== null;
}

function toolCallsOf(choice: unknown): unknown[] | null {
  const calls = isObject(choice) && isObject(choice.delta) ? choice.delta.tool_calls : null;
  return Array.isArray(calls) && calls.length > 0 ? calls : null;
}
