import { byName } from '../../contract/values/json/by-name.ts';

/** Maps stop reasons of the Messages API to finish reasons of chat completions. Unknown ones become `stop`. */
const finishReasons: Readonly<Record<string, string>> = byName({
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refusal',
});

/** Returns the `finish_reason` for a `stop_reason`. Without strict OpenAI compliance the provider's own value is preserved. */
export function finishReasonOf(stopReason: unknown, strict: boolean): string {
  if (typeof stopReason !== 'string') return 'stop';
  return strict ? (finishReasons[stopReason] ?? 'stop') : stopReason;
}
