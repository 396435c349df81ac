/** Stop reasons of the Converse API in the words of chat completions; anything new reads as `stop`. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  // Cut short by a fault of the model: `stop` would call the reply whole.
  malformed_tool_use: 'length',
  malformed_model_output: 'length',
};

/** `finish_reason` for a `stopReason`. Without strict OpenAI compliance the provider's own word is kept. */
export function finishReasonOf(stopReason: unknown, strict: boolean): string {
  if (typeof stopReason !== 'string') return 'stop';
  return strict ? (finishReasons[stopReason] ?? 'stop') : stopReason;
}
