import { byName } from '../../../contract/values/json/by-name.ts';

/** Maps Gemini's finish reasons to those of chat completions. Unknown ones become `stop`. */
const finishReasons: Readonly<Record<string, string>> = byName({
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  ESCALATION: 'content_filter',
  PUP_LIMITED_DISABLED: 'content_filter',
  // An error of the model cut the reply. `stop` would mark it as complete.
  MALFORMED_FUNCTION_CALL: 'length',
  MALFORMED_RESPONSE: 'length',
  UNEXPECTED_TOOL_CALL: 'length',
  TOO_MANY_TOOL_CALLS: 'length',
  MISSING_THOUGHT_SIGNATURE: 'length',
});

/**
 * Returns the `finish_reason` of a choice. Gemini sends STOP after function calls too, but agents check for `tool_calls`, so a
 * complete reply with calls gets that. Without strict OpenAI compliance Gemini's other values are preserved.
 */
export function finishReasonOf(reason: unknown, callsTools: boolean, strict: boolean): string {
  const word = typeof reason === 'string' ? reason : 'STOP';
  const mapped = finishReasons[word] ?? 'stop';
  if (callsTools && mapped === 'stop') return 'tool_calls';
  return strict ? mapped : word;
}
