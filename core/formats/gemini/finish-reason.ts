/** Gemini's finish reasons in the words of chat completions (data-plane §8.3); anything new reads as `stop`. */
const finishReasons: Readonly<Record<string, string>> = {
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
  // Cut short by a fault of the model: `stop` would call the reply whole.
  MALFORMED_FUNCTION_CALL: 'length',
  MALFORMED_RESPONSE: 'length',
  UNEXPECTED_TOOL_CALL: 'length',
  TOO_MANY_TOOL_CALLS: 'length',
};

/**
 * `finish_reason` of a choice. Gemini says STOP after function calls too; agents go by `tool_calls`, so that is said whenever
 * there are calls and the reply is whole. Without strict OpenAI compliance Gemini's other words are kept.
 */
export function finishReasonOf(reason: unknown, callsTools: boolean, strict: boolean): string {
  const word = typeof reason === 'string' ? reason : 'STOP';
  const mapped = finishReasons[word] ?? 'stop';
  if (callsTools && mapped === 'stop') return 'tool_calls';
  return strict ? mapped : word;
}
