import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { baseModelId, makerOf } from '../model-id.ts';

/**
 * Returns the caching hint of a part, message or tool as the block that follows it. Without a hint, and if the model rejects the
 * block in this place, there is no block.
 */
export function cachePoints(from: JsonObject, call: OperationCall, place: 'content' | 'tools' = 'content'): JsonObject[] {
  const hint = isObject(from.cache_control) ? from.cache_control : null;
  if (hint === null && !isObject(from.prompt_cache_breakpoint)) return [];
  if (isNova(call.model) ? place === 'tools' : !takesCachePoints(call.model)) {
    noteOnce(call.dropped, 'cache_control');
    return [];
  }
  // Nova has one time to live, and no field for it.
  const ttl = (hint?.ttl === '5m' || hint?.ttl === '1h') && !isNova(call.model) ? { ttl: hint.ttl } : {};
  return [{ cachePoint: { type: 'default', ...ttl } }];
}

/** Removes cache points from turns with calls or results of tools if the model is Nova, which rejects them there. */
export function withoutRejectedPoints<Turn extends { readonly content: JsonObject[] }>(
  turns: Turn[],
  call: OperationCall,
): Turn[] {
  if (!isNova(call.model)) return turns;
  return turns.map((turn) => {
    if (!turn.content.some((block) => block.toolUse !== undefined || block.toolResult !== undefined)) return turn;
    const content = turn.content.filter((block) => block.cachePoint === undefined);
    if (content.length < turn.content.length) noteOnce(call.dropped, 'cache_control');
    return { ...turn, content };
  });
}

/** Models without prompt caching reject the call with 403. An id that names no maker (an ARN) may be Claude's. */
function takesCachePoints(model: string): boolean {
  const maker = makerOf(model);
  return maker === 'anthropic' || maker === '';
}

function isNova(model: string): boolean {
  return baseModelId(model).startsWith('amazon.nova');
}
