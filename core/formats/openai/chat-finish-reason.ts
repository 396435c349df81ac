import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

const known: Readonly<Record<string, string>> = byName({
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  function_call: 'function_call',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  complete: 'stop',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  // An error of the provider cut the reply. `stop` would mark it as complete.
  error: 'length',
  insufficient_system_resource: 'length',
});

/** Converts the finish reason of an OpenAI-compatible provider to OpenAI's. Unknown values become `stop`. */
function chatFinishReason(native: string): string {
  return known[native.toLowerCase()] ?? 'stop';
}

/**
 * Returns a chat or completion reply, or one chunk of it, with OpenAI's finish reasons. The same object if they need no change.
 */
export function withMappedFinishReasons(reply: JsonObject): JsonObject {
  const { choices } = reply;
  if (!Array.isArray(choices) || !choices.some(needsMapping)) return reply;
  return {
    ...reply,
    choices: choices.map((choice) =>
      needsMapping(choice) ? { ...choice, finish_reason: chatFinishReason(choice.finish_reason) } : choice,
    ),
  };
}

function needsMapping(choice: unknown): choice is JsonObject & { finish_reason: string } {
  if (!isObject(choice) || typeof choice.finish_reason !== 'string') return false;
  return chatFinishReason(choice.finish_reason) !== choice.finish_reason;
}
