import { isObject, type JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

/**
 * A Converse reply as a chat completion. Without strict compliance the message also carries `content_blocks`, in the form all
 * providers of this gateway share: sent back unchanged, signed thoughts survive. Fields this does not know are kept.
 */
export function chatReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { output, stopReason, usage: _usage, metrics: _metrics, ...others } = reply;
  const message = isObject(output) && isObject(output.message) ? output.message : {};
  const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : [];
  const usage = usageOfReply(reply);
  const toolCalls = blocks.map((block) => block.toolUse).filter(isObject);
  const texts = blocks.map(textOf).filter((text) => text !== null);
  const said: JsonObject = {
    role: 'assistant',
    // OpenAI has null for bare tool calls.
    content: texts.length === 0 ? null : texts.join(''),
    refusal: null,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(toolCall) } : {}),
    ...(call.strict ? {} : { content_blocks: blocks.map(sharedBlock) }),
  };
  return {
    id: call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: call.model,
    provider: 'bedrock',
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: finishReasonOf(stopReason, call.strict) }],
    ...(usage === null ? {} : { usage: toChatUsage(usage, call.strict) }),
    ...others,
  };
}

/** Text of a block; cited text is text as well. */
function textOf(block: JsonObject): string | null {
  if (typeof block.text === 'string') return block.text;
  const cited = block.citationsContent;
  if (!isObject(cited) || !Array.isArray(cited.content)) return null;
  return cited.content.map((part) => (isObject(part) ? String(part.text ?? '') : '')).join('');
}

function toolCall(use: JsonObject): JsonObject {
  return { id: use.toolUseId, type: 'function', function: { name: use.name, arguments: JSON.stringify(use.input ?? {}) } };
}

/** A block in the shared form; kinds without one stay as they are. */
function sharedBlock(block: JsonObject): JsonObject {
  const { toolUse, reasoningContent, citationsContent } = block;
  if (typeof block.text === 'string') return { type: 'text', text: block.text };
  if (isObject(toolUse)) return { type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
  if (isObject(citationsContent)) return { type: 'text', text: textOf(block), citations: citationsContent.citations };
  if (!isObject(reasoningContent)) return block;
  const { reasoningText, redactedContent } = reasoningContent;
  if (redactedContent !== undefined) return { type: 'redacted_thinking', data: redactedContent };
  const { text, signature } = isObject(reasoningText) ? reasoningText : ({} as JsonObject);
  return { type: 'thinking', thinking: text ?? '', ...(signature === undefined ? {} : { signature }) };
}
