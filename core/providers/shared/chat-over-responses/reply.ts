import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import type { Usage } from '../../../contract/usage.ts';
import { asChatUsage } from '../as-chat-usage.ts';
import { objectsIn } from '../objects-in.ts';
import { streamFault } from '../provider-fault.ts';
import { inputOf } from '../said.ts';
import { toBlock } from './signed-thoughts.ts';

/** Fields of a response that are said in another way, or that only repeat the request. All others are kept. */
const readFields: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'error', 'incomplete_details', 'instructions', 'max_output_tokens'],
  ...['max_tool_calls', 'model', 'output', 'output_text', 'parallel_tool_calls', 'previous_response_id', 'prompt', 'reasoning'],
  ...['store', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'usage', 'user', 'metadata'],
  ...['background', 'conversation', 'presence_penalty', 'frequency_penalty', 'safety_identifier', 'prompt_cache_key'],
  'prompt_cache_retention',
]);

/**
 * A response as a chat completion. Without strict compliance the message also carries `content_blocks` with the thoughts: sent back
 * unchanged, the model goes on where it was. Throws `upstream_status` for a response that failed.
 */
export function chatReply(id: string, reply: JsonObject, usage: Usage | null, call: OperationCall): JsonObject {
  if (reply.status === 'failed') throw streamFault(id, reply.error);
  const output = Array.isArray(reply.output) ? reply.output.filter(isObject) : [];
  const parts = output.filter((item) => item.type === 'message').flatMap((item) => objectsIn(item.content));
  const texts = parts.filter((part) => part.type === 'output_text');
  const refusals = parts.filter((part) => part.type === 'refusal').map((part) => String(part.refusal ?? ''));
  const annotations = texts.flatMap((part) => objectsIn(part.annotations)).map(toChatAnnotation);
  const toolCalls = output.flatMap(toolCallOf);
  const logprobs = texts.flatMap((part) => objectsIn(part.logprobs));
  const message: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((part) => String(part.text ?? '')).join(''),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    ...(annotations.length > 0 ? { annotations } : {}),
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
    ...Object.fromEntries(Object.entries(reply).filter(([name, value]) => !readFields.has(name) && value !== null)),
  };
}

/** How a response ended, in the words of chat completions. */
export function finishReasonOf(response: JsonObject, callsTools: boolean): string {
  const { status, incomplete_details: details } = response;
  if (status !== 'incomplete') return callsTools ? 'tool_calls' : 'stop';
  return isObject(details) && details.reason === 'content_filter' ? 'content_filter' : 'length';
}

/** Unix seconds. */
export function createdOf(response: JsonObject, call: OperationCall): number {
  return typeof response.created_at === 'number' ? Math.floor(response.created_at) : call.nowSeconds;
}

/** What a citation says stands under its type in chat completions. */
export function toChatAnnotation(annotation: JsonObject): JsonObject {
  const { type, ...fields } = annotation;
  return { type, [String(type)]: fields };
}

/** The call of a tool as an entry of `tool_calls`; empty for every other item. */
export function toolCallOf(item: JsonObject): JsonObject[] {
  const id = item.call_id ?? item.id;
  if (item.type === 'function_call')
    return [{ id, type: 'function', function: { name: item.name, arguments: item.arguments ?? '' } }];
  if (item.type === 'custom_tool_call') return [{ id, type: 'custom', custom: { name: item.name, input: item.input ?? '' } }];
  return [];
}

/** The items in their order, as the blocks that chat and Messages callers know. */
function blocksOf(output: readonly JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const item of output) {
    if (item.type === 'reasoning') blocks.push(...[toBlock(item)].filter(isObject));
    else if (item.type === 'function_call')
      blocks.push({ type: 'tool_use', id: item.call_id ?? item.id, name: item.name, input: inputOf(item.arguments) });
    else if (item.type === 'message') {
      const texts = objectsIn(item.content).map((part) => (part.type === 'output_text' ? String(part.text ?? '') : ''));
      if (texts.join('') !== '') blocks.push({ type: 'text', text: texts.join('') });
    }
  }
  return blocks;
}
