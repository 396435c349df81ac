import { isObject, type JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { emptyUsage, type Usage } from '../../contract/usage.ts';
import { stopReasonOf } from './messages-stop-reason.ts';

/** A chat completion as a Messages reply: thinking, then text, then tool calls. Top-level fields this does not know are kept. */
export function toMessagesReply(completion: JsonObject, usage: Usage | null, call: OperationCall): JsonObject {
  const { id, object: _object, created: _created, model, choices, usage: _usage, ...others } = completion;
  const choice = Array.isArray(choices) && isObject(choices[0]) ? choices[0] : {};
  const message = isObject(choice.message) ? choice.message : {};
  const tools = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject).map(toolUse) : [];
  return {
    ...others,
    id: typeof id === 'string' && id !== '' ? id : call.newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: typeof model === 'string' ? model : call.model,
    content: [...thinkingBlocks(message), ...textBlocks(message), ...tools],
    stop_reason: message.refusal ? 'refusal' : stopReasonOf(choice.finish_reason, tools.length > 0),
    stop_sequence: null,
    usage: messagesUsage(usage ?? emptyUsage()),
  };
}

/** Our counts as the `usage` of a Messages reply, where `input_tokens` leaves out what the cache gave or took. */
export function messagesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

/** The thoughts in a message or delta, under whichever name the provider has for them. */
export function reasoningText(from: JsonObject): string {
  const { reasoning_content: content, reasoning } = from;
  if (typeof content === 'string') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/** What a message or delta says: its content, as text or as a list of parts, or its refusal. */
export function spokenText(from: JsonObject): string {
  const parts = Array.isArray(from.content) ? from.content.filter(isObject).map((part) => part.text) : [from.content];
  return [...parts, from.refusal].filter((part) => typeof part === 'string').join('');
}

/** Blocks with their signatures where the provider hands them out, else the bare text, which cannot be signed. */
function thinkingBlocks(message: JsonObject): JsonObject[] {
  const blocks = Array.isArray(message.content_blocks) ? message.content_blocks.filter(isObject) : [];
  const kept = blocks.filter((block) => block.type === 'thinking' || block.type === 'redacted_thinking');
  if (kept.length > 0) return kept;
  const text = reasoningText(message);
  return text === '' ? [] : [{ type: 'thinking', thinking: text, signature: '' }];
}

function textBlocks(message: JsonObject): JsonObject[] {
  const text = spokenText(message);
  return text === '' ? [] : [{ type: 'text', text }];
}

function toolUse(toolCall: JsonObject): JsonObject {
  const fn = isObject(toolCall.function) ? toolCall.function : {};
  return { type: 'tool_use', id: toolCall.id, name: fn.name, input: inputOf(fn.arguments) };
}

/** Arguments are text a model wrote: what is not an object of JSON becomes `{}`, so that the block stays valid. */
function inputOf(text: unknown): JsonObject {
  if (isObject(text)) return text;
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
