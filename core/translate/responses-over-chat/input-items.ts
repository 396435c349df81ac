import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { isServerToolItem } from '../../formats/server-tool-items.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';
import { chatParts, plainWherePossible } from './input-parts.ts';
import { openReasoning } from './sealed-reasoning.ts';

/** One reply of the model, assembled from its items, because chat completions have one message for all of them. */
interface Spoken {
  readonly parts: JsonObject[];
  readonly toolCalls: JsonObject[];
  /** Signed reasoning, texts and tool calls in their order, for providers that accept `content_blocks`. */
  readonly blocks: JsonObject[];
  readonly reasoning: string[];
  readonly images: JsonObject[];
}

/**
 * Converts `instructions` and `input` of a Responses call to chat messages. Consecutive items of the model become one message.
 * Throws `bad_request` naming the item that cannot be carried over.
 */
export function toChatMessages(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  const { instructions, input } = params;
  const messages: JsonObject[] = [];
  if (typeof instructions === 'string' && instructions !== '') messages.push({ role: 'system', content: instructions });
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  if (!Array.isArray(input)) throw badParam('input', 'text or a list of items is required');
  let spoken: Spoken | null = null;
  /** Attachments of tool results. They follow the last result, because results must stay together. */
  let attached: JsonObject[] = [];
  const endResults = (): void => {
    if (attached.length > 0) messages.push({ role: 'user', content: attached });
    attached = [];
  };
  const ofModel = (): Spoken => {
    endResults();
    spoken ??= { parts: [], toolCalls: [], blocks: [], reasoning: [], images: [] };
    return spoken;
  };
  const endTurn = (): void => {
    if (spoken !== null) messages.push(...assistantMessages(spoken, call, understands));
    spoken = null;
  };
  /** Ids of left out calls, whose results are left out too: every API rejects a result without its call. */
  const leftOut = new Set<unknown>();
  for (const [index, item] of withResultsTogether(input, call)) {
    const path = `input[${index}]`;
    if (!isObject(item)) throw badParam(path, 'an item must be an object');
    if (isCall(item)) addCall(ofModel(), item, path);
    else if (item.type === 'reasoning') addReasoning(ofModel(), item, call);
    else if (item.role === 'assistant') addText(ofModel(), chatParts(item.content, `${path}.content`, call, understands));
    else if (isDrawn(item) && understands.includes('images')) addImage(ofModel(), item);
    // Other models do not need these items.
    else if (isServerToolItem(item) || (item.type === 'function_call_output' && leftOut.has(item.call_id))) {
      noteOnce(call.dropped, `input.${String(item.type)}`);
      if (typeof item.call_id === 'string') leftOut.add(item.call_id);
    } else if (isResult(item)) {
      endTurn();
      const result = toolResult(item, path, call, understands);
      messages.push(result.message);
      attached.push(...result.attached);
    } else {
      endTurn();
      endResults();
      messages.push(plainMessage(item, path, call, understands));
    }
  }
  endTurn();
  endResults();
  return messages;
}

/**
 * Returns the items with their indexes. Messages between calls and their results follow the results, because only the Responses API
 * accepts them there.
 */
function withResultsTogether(input: readonly unknown[], call: OperationCall): (readonly [number, unknown])[] {
  const results = new Set(
    input
      .filter(isObject)
      .filter(isResult)
      .map((item) => item.call_id),
  );
  const ordered: (readonly [number, unknown])[] = [];
  const open = new Set<unknown>();
  let held: (readonly [number, unknown])[] = [];
  for (const entry of input.entries()) {
    const item: JsonObject = isObject(entry[1]) ? entry[1] : {};
    if (isCall(item) && results.has(item.call_id)) open.add(item.call_id);
    if (isResult(item)) open.delete(item.call_id);
    if (open.size > 0 && isToModel(item)) held.push(entry);
    else ordered.push(entry);
    if (open.size > 0 || held.length === 0) continue;
    noteOnce(call.adapted, 'input');
    ordered.push(...held);
    held = [];
  }
  return [...ordered, ...held];
}

function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function isResult({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output';
}

/** True for a message to the model. */
function isToModel({ type, role }: JsonObject): boolean {
  return (type === undefined || type === 'message') && role !== 'assistant';
}

function addText(spoken: Spoken, parts: readonly JsonObject[]): void {
  for (const part of parts) {
    spoken.parts.push(part);
    const text = part.type === 'refusal' ? part.refusal : part.text;
    if (typeof text === 'string' && text !== '') spoken.blocks.push({ type: 'text', text });
  }
}

function addCall(spoken: Spoken, item: JsonObject, path: string): void {
  const { type, call_id: id, name, arguments: text, input } = item;
  if (typeof id !== 'string') throw badParam(`${path}.call_id`, 'text is required');
  if (typeof name !== 'string') throw badParam(`${path}.name`, 'text is required');
  if (type === 'custom_tool_call') {
    spoken.toolCalls.push({ id, type: 'custom', custom: { name, input: typeof input === 'string' ? input : '' } });
  } else {
    const fn = { name, arguments: typeof text === 'string' && text !== '' ? text : '{}' };
    spoken.toolCalls.push({ id, type: 'function', function: fn });
  }
  spoken.blocks.push({ type: 'tool_use', id, name });
}

/** True for an image that the model made. */
function isDrawn(item: JsonObject): boolean {
  return item.type === 'image_generation_call' && typeof item.result === 'string' && item.result !== '';
}

function addImage(spoken: Spoken, { output_format: format, result }: JsonObject): void {
  const url = `data:image/${typeof format === 'string' ? format : 'png'};base64,${String(result)}`;
  spoken.images.push({ type: 'image_url', image_url: { url } });
}

/**
 * Adds the reasoning of an item. Reasoning that this gateway sealed is restored with its signatures. Of any other, only the
 * summary can be read.
 */
function addReasoning(spoken: Spoken, item: JsonObject, call: OperationCall): void {
  const sealed = openReasoning(item.encrypted_content);
  if (sealed === null && item.encrypted_content) noteOnce(call.dropped, 'input.reasoning');
  spoken.blocks.push(...(sealed ?? []));
  const texts = [item.content, item.summary].find((list) => Array.isArray(list) && list.length > 0);
  const text = (Array.isArray(texts) ? texts : [])
    .filter(isObject)
    .map((part) => String(part.text ?? ''))
    .join('\n');
  if (text !== '') spoken.reasoning.push(text);
}

function assistantMessages(spoken: Spoken, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  const { parts, toolCalls, blocks, reasoning, images } = spoken;
  const isReasoning = (block: JsonObject): boolean => block.type === 'thinking' || block.type === 'redacted_thinking';
  const keepsBlocks = understands.includes('content_blocks') && blocks.some(isReasoning);
  const keepsText = understands.includes('reasoning_content') && reasoning.length > 0 && !keepsBlocks;
  if (!keepsBlocks && !keepsText && (reasoning.length > 0 || blocks.some(isReasoning))) noteOnce(call.dropped, 'input.reasoning');
  // The reasoning text is sent, but without the signature that lets its provider continue it.
  else if (keepsText && blocks.some(isReasoning)) noteOnce(call.adapted, 'input.reasoning');
  if (parts.length === 0 && toolCalls.length === 0 && images.length === 0 && !keepsBlocks) return [];
  const texts = parts.map((part) => part.text ?? part.refusal);
  return [
    {
      role: 'assistant',
      content: parts.length === 0 ? null : texts.filter((text) => typeof text === 'string').join(''),
      ...(keepsText ? { reasoning_content: reasoning.join('\n') } : {}),
      ...(keepsBlocks ? { content_blocks: blocks } : {}),
      ...(images.length > 0 ? { images } : {}),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    },
  ];
}

function plainMessage(item: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  if (item.type !== undefined && item.type !== 'message') {
    const needs = 'needs a provider with its own Responses API';
    if (item.type === 'item_reference') throw badParam(path, `item_reference ${needs}: send the item itself, with store: false`);
    throw badParam(path, `an item of type ${String(item.type)} ${needs}`);
  }
  const content = plainWherePossible(chatParts(item.content, `${path}.content`, call, understands));
  if (item.role === 'user') return { role: 'user', content };
  // `developer` is the newer name of `system`, which every provider accepts.
  if (item.role === 'system' || item.role === 'developer') return { role: 'system', content };
  throw badParam(`${path}.role`, 'user, assistant, system or developer is expected');
}

/** Returns the result of a tool, with images and files separate if the provider does not accept them in results. */
function toolResult(
  item: JsonObject,
  path: string,
  call: OperationCall,
  understands: readonly ChatExtra[],
): { message: JsonObject; attached: JsonObject[] } {
  if (typeof item.call_id !== 'string') throw badParam(`${path}.call_id`, 'text is required');
  const parts = chatParts(item.output, `${path}.output`, call, understands);
  const isInline = (part: JsonObject): boolean => part.type === 'text' || understands.includes('tool_media');
  const others = parts.filter((part) => !isInline(part));
  const content = plainWherePossible(parts.filter(isInline));
  const message = { role: 'tool', tool_call_id: item.call_id, content };
  if (others.length === 0) return { message, attached: [] };
  noteOnce(call.adapted, `input.${String(item.type)}`);
  const lead = { type: 'text', text: `Attached to the result of tool call ${item.call_id}:` };
  return { message, attached: [lead, ...others] };
}
