import { byName } from '../../../contract/values/json/by-name.ts';

/** Maps stop reasons of the Converse API to finish reasons of chat completions. Unknown ones become `stop`. */
const finishReasons: Readonly<Record<string, string>> = byName({
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  // An error of the model cut the reply. `stop` would mark it as complete.
  malformed_tool_use: 'length',
  malformed_model_output: 'length',
});

/** Returns the `finish_reason` for a `stopReason`. Without strict OpenAI compliance the provider's own value is preserved. */
export function finishReasonOf(stopReason: unknown, strict: boolean): string {
  if (typeof stopReason !== 'string') return 'stop';
  return strict ? (finishReasons[stopReason] ?? 'stop') : stopReason;
}
