import { byName } from '../../contract/values/json/by-name.ts';

/** Maps finish reasons of the Chat API to those of chat completions. Unknown ones become `stop`. */
const finishReasons: Readonly<Record<string, string>> = byName({
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  // An error of the provider cut the reply. `stop` would mark it as complete.
  ERROR: 'length',
  TIMEOUT: 'length',
});

/** Returns OpenAI's `finish_reason`. Without strict OpenAI compliance the provider's own value is preserved. */
export function finishReasonOf(reason: unknown, strict: boolean): string {
  if (typeof reason !== 'string') return 'stop';
  return strict ? (finishReasons[reason] ?? 'stop') : reason;
}
