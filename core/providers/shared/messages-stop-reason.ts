import { isCut } from './finish-words.ts';

/** Finish reasons of chat providers in the words of the Messages API (data plane reference §8.1). Its own words stay. */
const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'end_turn',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  pause_turn: 'pause_turn',
  refusal: 'refusal',
  model_context_window_exceeded: 'model_context_window_exceeded',
};

/**
 * `stop_reason` for a `finish_reason`; new words read as `end_turn`. Some servers say `stop` after tool calls: agents that go
 * by the stop reason would then never run them, so calls decide.
 */
export function stopReasonOf(finishReason: unknown, callsTools: boolean): string {
  const known = typeof finishReason === 'string' ? stopReasons[finishReason] : undefined;
  const reason = known ?? (isCut(finishReason) ? 'max_tokens' : 'end_turn');
  return callsTools && reason === 'end_turn' ? 'tool_use' : reason;
}
