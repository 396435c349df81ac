import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { asChatUsage } from '../../formats/openai/as-chat-usage.ts';
import { streamError } from '../../formats/openai/provider-error.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';
import { toolInput } from '../tool-input.ts';
import { betweenSummaries, reasoningOf, toBlock } from './signed-reasoning.ts';

/**
 * Fields of a response that a chat completion carries in another form, or that only repeat the request. All others are preserved.
 */
const readFields: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'error', 'incomplete_details', 'instructions', 'max_output_tokens'],
  ...['max_tool_calls', 'model', 'output', 'output_text', 'parallel_tool_calls', 'previous_response_id', 'prompt', 'reasoning'],
  ...['store', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'usage', 'user', 'metadata'],
  ...['background', 'conversation', 'presence_penalty', 'frequency_penalty', 'safety_identifier', 'prompt_cache_key'],
  'prompt_cache_retention',
]);

/**
 * Translates a response into a chat completion. Without strict compliance the message also carries the reasoning in
 * `content_blocks`; if the client sends it back unchanged, the model continues its reasoning. Items that a strict chat message
 * cannot hold are reported. Throws `upstream_status` for a failed response.
 */
export function chatReply(id: string, reply: JsonObject, usage: Usage | null, call: OperationCall): JsonObject {
  if (reply.status === 'failed') throw streamError(id, reply.error);
  const output = objectsIn(reply.output);
  const parts = output.filter((item) => item.type === 'message').flatMap((item) => objectsIn(item.content));
  const texts = parts.filter((part) => part.type === 'output_text');
  const refusals = parts.filter((part) => part.type === 'refusal').map((part) => String(part.refusal ?? ''));
  const toolCalls = output.flatMap(toolCallOf);
  const reasoningTexts = output.filter((item) => item.type === 'reasoning').map(reasoningOf);
  const reasoning = reasoningTexts.filter((text) => text !== '').join(betweenSummaries);
  const annotations = annotationsOf(texts, call);
  const images = output.flatMap(imageOf);
  for (const item of output) reportItem(item, call);
  const logprobs = texts.flatMap((part) => objectsIn(part.logprobs));
  const message: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((part) => String(part.text ?? '')).join(''),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(call.strict ? {} : { content_blocks: blocksOf(output) }),
  };
  const finish_reason = finishReasonOf(reply, toolCalls.length > 0);
  return {
    id: typeof reply.id === 'string' && reply.id !== '' ? reply.id : call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: createdOf(reply, call),
    model: typeof reply.model === 'string' ? reply.model : call.model,
    choices: [{ index: 0, message, logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null, finish_reason }],
    ...(usage === null ? {} : { usage: asChatUsage(usage) }),
    ...otherFields(reply),
  };
}

/** Returns the fields of a response that a chat completion preserves, such as its service tier. */
export function otherFields(response: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(response).filter(([name, value]) => !readFields.has(name) && value !== null));
}

/** Returns the finish reason of a response in terms of chat completions. */
export function finishReasonOf(response: JsonObject, callsTools: boolean): string {
  const { status, incomplete_details: details } = response;
  if (status !== 'incomplete') return callsTools ? 'tool_calls' : 'stop';
  return isObject(details) && details.reason === 'content_filter' ? 'content_filter' : 'length';
}

/** Unix seconds. */
export function createdOf(response: JsonObject, call: OperationCall): number {
  return typeof response.created_at === 'number' ? Math.floor(response.created_at) : call.nowSeconds;
}

/** Returns the annotations of all texts. In chat completions their offsets refer to the text of the whole message. */
function annotationsOf(texts: readonly JsonObject[], call: OperationCall): JsonObject[] {
  let from = 0;
  return texts.flatMap((part) => {
    const made = objectsIn(part.annotations).flatMap((annotation) => toChatAnnotations(annotation, from, call));
    from += String(part.text ?? '').length;
    return made;
  });
}

/**
 * Returns an annotation as chat completions nest it, under its type. `from` = characters of the message before its part. Strict callers
 * get citations of web pages only: clients that check types refuse a reply with another annotation.
 */
export function toChatAnnotations({ type, ...fields }: JsonObject, from: number, call: OperationCall): JsonObject[] {
  if (call.strict && type !== 'url_citation') {
    dropFromReply(call, type);
    return [];
  }
  const { start_index: start, end_index: end } = fields;
  const offsets =
    typeof start === 'number' && typeof end === 'number' ? { start_index: start + from, end_index: end + from } : {};
  return [{ type, [String(type)]: { ...fields, ...offsets } }];
}

/** Returns the image of an item as an entry of `images`. Empty for every other item. */
export function imageOf({ type, result, output_format: format }: JsonObject): JsonObject[] {
  if (type !== 'image_generation_call' || typeof result !== 'string' || result === '') return [];
  const url = `data:image/${typeof format === 'string' ? format : 'png'};base64,${result}`;
  return [{ type: 'image_url', image_url: { url } }];
}

const readItems: ReadonlySet<unknown> = new Set([
  ...['message', 'reasoning', 'function_call', 'custom_tool_call', 'image_generation_call'],
]);

/** True for an item that chat messages have a field for. Others, such as those of OpenAI's own tools, are native blocks. */
export function isReadItem(item: JsonObject): boolean {
  return readItems.has(item.type);
}

/** Reports an item that has no field in a strict chat message, and parts of a message of unknown types. */
export function reportItem(item: JsonObject, call: OperationCall): void {
  if (call.strict && !isReadItem(item)) dropFromReply(call, item.type);
  if (item.type !== 'message') return;
  for (const { type } of objectsIn(item.content)) if (type !== 'output_text' && type !== 'refusal') dropFromReply(call, type);
}

/** Returns the call of a tool as an entry of `tool_calls`. Empty for every other item. */
export function toolCallOf(item: JsonObject): JsonObject[] {
  const id = item.call_id ?? item.id;
  if (item.type === 'function_call')
    return [{ id, type: 'function', function: { name: item.name, arguments: item.arguments ?? '' } }];
  if (item.type === 'custom_tool_call') return [{ id, type: 'custom', custom: { name: item.name, input: item.input ?? '' } }];
  return [];
}

/** Returns the items in their order, as the blocks for chat and Messages callers. */
function blocksOf(output: readonly JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const item of output) {
    if (item.type === 'reasoning') blocks.push(...[toBlock(item)].filter(isObject));
    else if (item.type === 'function_call')
      blocks.push({ type: 'tool_use', id: item.call_id ?? item.id, name: item.name, input: toolInput(item.arguments) });
    // As models with functions only call a custom tool (core/translate/custom-tools).
    else if (item.type === 'custom_tool_call')
      blocks.push({ type: 'tool_use', id: item.call_id ?? item.id, name: item.name, input: { input: item.input ?? '' } });
    else if (item.type === 'message') {
      const texts = objectsIn(item.content).map((part) => (part.type === 'output_text' ? String(part.text ?? '') : ''));
      if (texts.join('') !== '') blocks.push({ type: 'text', text: texts.join('') });
    } else if (!isReadItem(item)) blocks.push(item);
  }
  return blocks;
}
