import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { annotationsOf } from '../../../formats/anthropic/citations.ts';
import { dropFromReply } from '../../../formats/reply-notes.ts';
import { kindOf } from '../../../formats/sealed-blocks.ts';
import { toChatUsage, usageOfReply } from '../usage.ts';
import { sharedCitations } from './citations.ts';
import { finishReasonOf } from './finish-reason.ts';

/**
 * Translates a Converse reply into a chat completion. Without strict compliance the message also carries `content_blocks`, in the
 * form that all providers of this gateway share; if the client sends them back unchanged, signed reasoning survives. With strict
 * compliance, blocks that a chat message cannot hold are reported. Unknown fields are preserved.
 */
export function chatReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { output, stopReason, usage: _usage, metrics: _metrics, ...others } = reply;
  const message = isObject(output) && isObject(output.message) ? output.message : {};
  const usage = usageOfReply(reply);
  const choice = { index: 0, message: messageOf(objectsIn(message.content), call), logprobs: null };
  return {
    id: call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: call.model,
    provider: 'bedrock',
    choices: [{ ...choice, finish_reason: finishReasonOf(stopReason, call.strict), ...stopSequence(reply, call) }],
    ...(usage === null ? {} : { usage: toChatUsage(usage, call.strict) }),
    ...others,
  };
}

/**
 * Returns the stop sequence that ended Claude's reply, requested by `additionalModelResponseFieldPaths`, for callers without
 * strict compliance.
 */
export function stopSequence({ additionalModelResponseFields: fields }: JsonObject, call: OperationCall): JsonObject {
  const { stop_sequence: text } = isObject(fields) && isObject(fields.delta) ? fields.delta : {};
  return call.strict || typeof text !== 'string' ? {} : { stop_sequence: text };
}

/** Converts an image of the model to an entry of `images`. Null if it is neither data nor a stored object. */
export function imageOf(format: unknown, source: unknown): JsonObject | null {
  const { bytes, s3Location } = isObject(source) ? source : {};
  const stored = isObject(s3Location) ? s3Location.uri : null;
  const url = typeof bytes === 'string' ? `data:image/${String(format)};base64,${bytes}` : stored;
  return typeof url === 'string' ? { type: 'image_url', image_url: { url } } : null;
}

/** True for a call of a tool that the provider itself runs, to which no client can reply. */
export function isServerTool(use: JsonObject): boolean {
  return use.type === 'server_tool_use';
}

/** A chat message while the blocks of the reply are added to it. */
interface Message {
  /** Null until there is text: OpenAI returns null for tool calls without text. */
  content: string | null;
  reasoning: string;
  readonly annotations: JsonObject[];
  readonly images: JsonObject[];
  readonly toolCalls: JsonObject[];
  /** All blocks but images, for clients without strict compliance. */
  readonly shared: JsonObject[];
}

function messageOf(blocks: readonly JsonObject[], call: OperationCall): JsonObject {
  const message: Message = { content: null, reasoning: '', annotations: [], images: [], toolCalls: [], shared: [] };
  for (const block of blocks) addBlock(message, block, call);
  const { content, reasoning, annotations, images, toolCalls, shared } = message;
  return {
    role: 'assistant',
    content,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(call.strict ? {} : { content_blocks: shared }),
  };
}

function addBlock(message: Message, block: JsonObject, call: OperationCall): void {
  const { toolUse, reasoningContent, citationsContent, image } = block;
  const text = textOf(block);
  if (text !== null) {
    addText(message, text, isObject(citationsContent) ? sharedCitations(citationsContent.citations, call) : [], call);
    return;
  }
  if (isObject(toolUse) && !isServerTool(toolUse)) {
    message.toolCalls.push(toolCall(toolUse));
    message.shared.push({ type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input });
    return;
  }
  if (isObject(reasoningContent)) {
    const part = reasoningOf(reasoningContent);
    message.reasoning += typeof part.thinking === 'string' ? part.thinking : '';
    if (call.strict && part.type === 'redacted_thinking') dropFromReply(call, part.type);
    message.shared.push(part);
    return;
  }
  const made = isObject(image) ? imageOf(image.format, image.source) : null;
  if (made !== null) {
    message.images.push(made);
    return;
  }
  if (call.strict) dropFromReply(call, isObject(toolUse) ? toolUse.type : kindOf(block));
  message.shared.push(nativeBlock(block));
}

function addText(message: Message, text: string, citations: readonly JsonObject[], call: OperationCall): void {
  const start = message.content?.length ?? 0;
  message.content = (message.content ?? '') + text;
  message.annotations.push(...annotationsOf(citations, start, message.content.length, call));
  message.shared.push({ type: 'text', text, ...(citations.length > 0 ? { citations } : {}) });
}

/** Returns the text of a block. Cited text is text as well. */
function textOf(block: JsonObject): string | null {
  if (typeof block.text === 'string') return block.text;
  const cited = block.citationsContent;
  if (!isObject(cited) || !Array.isArray(cited.content)) return null;
  return cited.content.map((part) => (isObject(part) ? String(part.text ?? '') : '')).join('');
}

function toolCall(use: JsonObject): JsonObject {
  return { id: use.toolUseId, type: 'function', function: { name: use.name, arguments: JSON.stringify(use.input ?? {}) } };
}

function reasoningOf({ reasoningText, redactedContent }: JsonObject): JsonObject {
  if (redactedContent !== undefined) return { type: 'redacted_thinking', data: redactedContent };
  const { text, signature } = isObject(reasoningText) ? reasoningText : ({} as JsonObject);
  return { type: 'thinking', thinking: text ?? '', ...(signature === undefined ? {} : { signature }) };
}

/**
 * Returns a block without a shared form, under its kind. Calls of the provider's own tools get a type that distinguishes them
 * from the client's.
 */
export function nativeBlock(block: JsonObject): JsonObject {
  const { toolUse } = block;
  return isObject(toolUse) && isServerTool(toolUse) ? serverToolBlock(toolUse) : { type: kindOf(block), ...block };
}

export function serverToolBlock({ toolUseId: id, name, input }: JsonObject): JsonObject {
  return { type: 'server_tool_use', id, name, input: input ?? {} };
}
