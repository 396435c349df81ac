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
  return [{ cachePoint: { type: 'default', ...ttlOf(hint?.ttl, call) } }];
}

/** Nova and Claude before 4.5 have one time to live, five minutes, and no field for it. */
function ttlOf(ttl: unknown, call: OperationCall): JsonObject {
  if ((ttl !== '5m' && ttl !== '1h') || isNova(call.model)) return {};
  if (!earlierClaude.test(baseModelId(call.model))) return { ttl };
  if (ttl === '1h') noteOnce(call.dropped, 'cache_control.ttl');
  return {};
}

/** Claude 3, and 4 until 4.1. */
const earlierClaude = /^anthropic\.claude-(3-|(sonnet|opus)-4-(20|1-))/;

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
