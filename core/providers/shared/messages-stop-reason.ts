/** Finish reasons of chat providers in the words of the Messages API (data plane reference §8.1). Its own words stay. */
const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  model_length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'end_turn',
  max_tokens: 'max_tokens',
  // Gemini's own words, which it keeps towards lenient callers.
  MAX_TOKENS: 'max_tokens',
  CONTINUATION: 'max_tokens',
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
  const reason = typeof finishReason === 'string' ? (stopReasons[finishReason] ?? 'end_turn') : 'end_turn';
  return callsTools && reason === 'end_turn' ? 'tool_use' : reason;
}
