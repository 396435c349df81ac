/**
 * Finish reasons, in lower case, by which providers report a truncated reply to callers without strict compliance. The names of a
 * provider's own fields are in its `finish-reason.ts`.
 */
const cutReasons: ReadonlySet<string> = new Set([
  ...['length', 'max_tokens', 'model_length', 'model_context_window_exceeded', 'continuation'],
  // The provider stopped in the middle. Any other value would mark the reply as complete.
  ...['error', 'timeout', 'insufficient_system_resource', 'malformed_function_call', 'malformed_response'],
  ...['unexpected_tool_call', 'too_many_tool_calls', 'malformed_tool_use', 'malformed_model_output'],
]);

const filterReasons: ReadonlySet<string> = new Set([
  ...['content_filter', 'content_filtered', 'guardrail_intervened', 'refusal', 'safety', 'recitation', 'blocklist', 'spii'],
  ...['prohibited_content', 'image_safety', 'image_prohibited_content', 'image_recitation', 'model_armor'],
]);

/** True if a limit or an error truncated a reply with this `finish_reason`. */
export function isCut(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && cutReasons.has(finishReason.toLowerCase());
}

/** True if a filter, or the model's own refusal, ended the reply. */
export function isFiltered(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && filterReasons.has(finishReason.toLowerCase());
}
