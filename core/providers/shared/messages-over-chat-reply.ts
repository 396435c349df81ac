import { isObject, type JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { emptyUsage, type Usage } from '../../contract/usage.ts';
import { stopReasonOf } from './messages-stop-reason.ts';

/** A chat completion as a Messages reply. Top-level fields this does not know are kept. */
export function toMessagesReply(completion: JsonObject, usage: Usage | null, call: OperationCall): JsonObject {
  const { id, object: _object, created: _created, model, choices, usage: _usage, ...others } = completion;
  const choice = Array.isArray(choices) && isObject(choices[0]) ? choices[0] : {};
  const message = isObject(choice.message) ? choice.message : {};
  const content = contentOf(message);
  const callsTools = content.some((block) => block.type === 'tool_use');
  return {
    ...others,
    id: typeof id === 'string' && id !== '' ? id : call.newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: typeof model === 'string' ? model : call.model,
    content,
    stop_reason: message.refusal ? 'refusal' : stopReasonOf(choice.finish_reason, callsTools),
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

/**
 * What the message says, as blocks: in the order of the provider's own blocks where it hands them out, with their signatures, else
 * thoughts (which cannot be signed then), text and tool calls.
 */
function contentOf(message: JsonObject): JsonObject[] {
  const natives = Array.isArray(message.content_blocks) ? message.content_blocks.filter(isObject) : [];
  const tools = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject).map(toolUse) : [];
  const texts = natives.map((block) => (block.type === 'text' ? String(block.text ?? '') : '')).join('');
  const spoken = spokenText(message);
  // Text that has no block, such as a plan for tool calls, comes before those that have.
  let rest = texts !== '' && spoken.endsWith(texts) ? spoken.slice(0, spoken.length - texts.length) : spoken;
  const content: JsonObject[] = [];
  const speak = (text: string): void => void (text !== '' && content.push({ type: 'text', text }));
  const speakRest = (): void => {
    speak(rest);
    rest = '';
  };
  const thoughts = natives.some(isThought) ? '' : reasoningText(message);
  if (thoughts !== '') content.push({ type: 'thinking', thinking: thoughts, signature: '' });
  for (const block of natives) {
    if (isThought(block)) content.push(block.type === 'thinking' ? { signature: '', ...block } : block);
    else if (block.type === 'text' && texts !== '') {
      speakRest();
      speak(String(block.text ?? ''));
    } else if (block.type === 'tool_use') {
      speakRest();
      const at = tools.findIndex((tool) => tool.id === block.id);
      if (at !== -1) content.push(...tools.splice(at, 1));
    }
  }
  speakRest();
  return [...content, ...tools];
}

function isThought(block: JsonObject): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function toolUse(toolCall: JsonObject): JsonObject {
  const fn = isObject(toolCall.function) ? toolCall.function : {};
  return { type: 'tool_use', id: toolCall.id, name: fn.name, input: inputOf(fn.arguments) };
}

/** Arguments are text a model wrote: what is not an object of JSON becomes `{}`, so that the block stays valid. */
export function inputOf(text: unknown): JsonObject {
  if (isObject(text)) return text;
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
