import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

/**
 * A Messages reply as a chat completion. Without strict compliance the message also carries `content_blocks`, the provider's
 * blocks as they came (thinking with its signature, citations, server tools): sent back unchanged, nothing is lost.
 * Top-level fields this does not know are kept.
 */
export function chatReply(reply: JsonObject, call: OperationCall, provider: string): JsonObject {
  const { id, type: _type, role: _role, content, model, stop_reason, stop_sequence: _sequence, usage: _usage, ...others } = reply;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const usage = usageOfReply(reply);
  const toolCalls = blocks.filter((block) => block.type === 'tool_use').map(toolCall);
  const message: JsonObject = {
    role: 'assistant',
    content: textOf(blocks),
    refusal: refusalOf(reply),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(call.strict ? {} : { content_blocks: blocks }),
  };
  return {
    id: typeof id === 'string' ? id : call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: typeof model === 'string' ? model : call.model,
    provider,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(stop_reason, call.strict) }],
    ...(usage === null ? {} : { usage: toChatUsage(usage, call.strict) }),
    ...withoutNulls(others),
  };
}

/** Why the model refused, where it says so (`stop_details`); chat completions keep that apart from the text. */
export function refusalOf(from: JsonObject): string | null {
  const { stop_reason: reason, stop_details: details } = from;
  return reason === 'refusal' && isObject(details) && typeof details.explanation === 'string' ? details.explanation : null;
}

/** All text of the reply; null where there is none, as OpenAI has it for bare tool calls. */
function textOf(blocks: readonly JsonObject[]): string | null {
  const texts = blocks.filter((block) => block.type === 'text').map((block) => String(block.text ?? ''));
  return texts.length === 0 ? null : texts.join('');
}

function toolCall(block: JsonObject): JsonObject {
  return { id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) } };
}

/** The provider spells features that were not used as null; a chat completion has no such fields. */
function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
