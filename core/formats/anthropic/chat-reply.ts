import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { dropFromReply } from '../reply-notes.ts';
import { annotationsOf } from './citations.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

/**
 * Translates a Messages reply into a chat completion. Without strict compliance the message also carries `content_blocks`, the
 * provider's unchanged blocks (thinking with its signature, citations, server tools); nothing is lost if the client sends them
 * back unchanged. With strict compliance, blocks that a chat message cannot hold are reported. Unknown top-level fields are
 * preserved.
 */
export function chatReply(reply: JsonObject, call: OperationCall, provider: string): JsonObject {
  const { id, type: _type, role: _role, content, model, stop_reason, stop_sequence, usage: _usage, ...others } = reply;
  const blocks = objectsIn(content);
  const usage = usageOfReply(reply);
  const message: JsonObject = {
    role: 'assistant',
    ...messageOf(blocks, refusalOf(reply), call),
    ...(call.strict ? {} : { content_blocks: blocks }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReasonOf(stop_reason, call.strict) };
  return {
    id: typeof id === 'string' ? id : call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: typeof model === 'string' ? model : call.model,
    provider,
    choices: [{ ...choice, ...stopSequence(stop_sequence, call) }],
    ...(usage === null ? {} : { usage: toChatUsage(usage, call.strict) }),
    ...withoutNulls(others),
  };
}

/** Returns the stop sequence that ended the reply, for callers without strict compliance. OpenAI has no field for it. */
export function stopSequence(value: unknown, call: OperationCall): JsonObject {
  return call.strict || typeof value !== 'string' ? {} : { stop_sequence: value };
}

/** Reports a block that a strict chat message has no field for. */
export function reportBlock(type: unknown, call: OperationCall): void {
  if (call.strict && type !== 'text' && type !== 'thinking' && type !== 'tool_use') dropFromReply(call, type);
}

/** Returns the model's reason for a refusal (`stop_details`), or null. Chat completions separate it from the text. */
export function refusalOf(from: JsonObject): string | null {
  const { stop_reason: reason, stop_details: details } = from;
  return reason === 'refusal' && isObject(details) && typeof details.explanation === 'string' ? details.explanation : null;
}

/**
 * Returns the fields of a chat message: text, reasoning, citations and tool calls. `content` is null without text, as OpenAI
 * returns it for a message of tool calls alone.
 */
function messageOf(blocks: readonly JsonObject[], refusal: string | null, call: OperationCall): JsonObject {
  let content: string | null = null;
  let reasoning = '';
  const annotations: JsonObject[] = [];
  const toolCalls: JsonObject[] = [];
  for (const block of blocks) {
    if (block.type === 'text') {
      const start: number = content?.length ?? 0;
      content = (content ?? '') + String(block.text ?? '');
      annotations.push(...annotationsOf(block.citations, start, content.length, call));
    } else if (block.type === 'thinking') reasoning += String(block.thinking ?? '');
    else if (block.type === 'tool_use') toolCalls.push(toolCall(block));
    else reportBlock(block.type, call);
  }
  return {
    content,
    refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
}

function toolCall(block: JsonObject): JsonObject {
  return { id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) } };
}

/** The provider sets unused features to null. A chat completion leaves such fields out. */
export function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
