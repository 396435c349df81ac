import { byName } from '../../contract/values/json/by-name.ts';
import { isText, type JsonObject } from '../../contract/values/json/json.ts';
import { isCut, isFiltered } from '../finish-reasons.ts';
import type { BlockSequence } from './block-sequence.ts';

/** Maps finish reasons of chat providers to stop reasons of the Messages API. Stop reasons of the Messages API are preserved. */
const stopReasons: Readonly<Record<string, string>> = byName({
  stop: 'end_turn',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  pause_turn: 'pause_turn',
  refusal: 'refusal',
  model_context_window_exceeded: 'model_context_window_exceeded',
});

/** Returns `stop_reason` and `stop_sequence` of a reply that ended with this choice. */
export function endingOf(choice: JsonObject, blocks: Pick<BlockSequence, 'callsTools' | 'refuses'>): JsonObject {
  const { finish_reason: finishReason, stop_sequence: sequence, stop_reason: matched } = choice;
  const reason = blocks.refuses() ? 'refusal' : stopReasonOf(finishReason, blocks.callsTools());
  // vLLM and similar servers return the stop sequence in `stop_reason`.
  const stop = [sequence, matched].find(isText) ?? null;
  const stopped = stop !== null && (reason === 'end_turn' || reason === 'stop_sequence');
  return { stop_reason: stopped ? 'stop_sequence' : reason, stop_sequence: stopped ? stop : null };
}

/**
 * Returns the `stop_reason` for a `finish_reason`. Unknown values become `end_turn`. A filter that truncated the reply becomes
 * `refusal`, because `end_turn` would mark half a reply as complete. Some servers send `stop` after tool calls. Agents would then
 * never run the tools, so calls decide.
 */
function stopReasonOf(finishReason: unknown, callsTools: boolean): string {
  const known = typeof finishReason === 'string' ? stopReasons[finishReason] : undefined;
  const cut = isCut(finishReason) ? 'max_tokens' : isFiltered(finishReason) ? 'refusal' : 'end_turn';
  const reason = known ?? cut;
  return callsTools && reason === 'end_turn' ? 'tool_use' : reason;
}
