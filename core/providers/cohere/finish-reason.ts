/** Finish reasons of the Chat API in the words of chat completions; anything new reads as `stop`. */
const finishReasons: Readonly<Record<string, string>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  // An error of the provider cut the reply short: `stop` would mark it as complete.
  ERROR: 'length',
  TIMEOUT: 'length',
};

/** `finish_reason` in OpenAI's words. Without strict OpenAI compliance the provider's own word is kept. */
export function finishReasonOf(reason: unknown, strict: boolean): string {
  if (typeof reason !== 'string') return 'stop';
  return strict ? (finishReasons[reason] ?? 'stop') : reason;
}
