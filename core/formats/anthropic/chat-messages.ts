import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { noteOnce } from '../note-once.ts';
import { toolArguments } from '../openai/tool-arguments.ts';
import { isNativePart, openBlock } from '../sealed-blocks.ts';
import { isServerToolItem } from '../server-tool-items.ts';
import { cacheControlOf, contentBlocks, isBlank, withCacheControl } from './content-parts.ts';
import { isOwnReasoning } from './own-reasoning.ts';

/** A chat history in the form of the Messages API: instructions separate from the turns. */
export interface Conversation {
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

/**
 * Splits chat messages into system blocks and turns. Consecutive tool results become one user turn, as parallel calls require.
 * Turns without content are left out. Throws `bad_request` naming the message it cannot read.
 */
export function toConversation(messages: unknown, call: OperationCall): Conversation {
  if (!Array.isArray(messages)) throw badParam('messages', 'a list of messages is required');
  const system: JsonObject[] = [];
  const turns: JsonObject[] = [];
  let results: JsonObject[] | null = null;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw badParam(path, 'a message must be an object');
    if (message.name !== undefined) noteOnce(call.dropped, 'messages.name');
    if (message.role === 'tool') {
      if (results === null) {
        results = [];
        turns.push({ role: 'user', content: results });
      }
      results.push(toolResult(message, path));
      continue;
    }
    results = null;
    if (message.role === 'system' || message.role === 'developer') {
      if (turns.length > 0) noteOnce(call.adapted, 'messages');
      system.push(...cachedBlocks(message, path));
    } else if (message.role === 'user') {
      const content = userContent(message, path);
      if (content.length > 0) turns.push({ role: 'user', content });
      else noteOnce(call.adapted, 'messages');
    } else if (message.role === 'assistant') {
      const blocks = assistantContent(message, path, call);
      const content = index === messages.length - 1 ? trimEnd(blocks, call) : blocks;
      if (content.length > 0) turns.push({ role: 'assistant', content: plainWherePossible(content) });
      else noteOnce(call.adapted, 'messages');
    } else {
      throw badParam(`${path}.role`, 'system, developer, user, assistant or tool is expected');
    }
  }
  if (turns.length > 0 || system.length === 0) return { system, messages: turns };
  // Claude refuses a call that holds instructions only, so they are sent as the user's turn.
  noteOnce(call.adapted, 'messages');
  return { system: [], messages: [{ role: 'user', content: plainWherePossible(system) }] };
}

/** Claude refuses a beginning of its reply (a last message of the assistant) that ends with white space. */
export function trimEnd(blocks: readonly JsonObject[], call: OperationCall): JsonObject[] {
  const last = blocks.at(-1);
  if (typeof last?.text !== 'string' || last.text === last.text.trimEnd()) return [...blocks];
  noteOnce(call.adapted, 'messages');
  return [...blocks.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}

/** A single text without a caching hint is sent as plain text, which is shorter. */
export function plainWherePossible(blocks: JsonObject[]): JsonObject[] | string {
  const [only] = blocks;
  const plain = blocks.length === 1 && only?.type === 'text' && typeof only.text === 'string' && Object.keys(only).length === 2;
  return plain ? (only.text as string) : blocks;
}

function userContent(message: JsonObject, path: string): JsonObject[] | string {
  if (typeof message.content === 'string' && cacheControlOf(message) === undefined)
    return isBlank(message.content) ? '' : message.content;
  return plainWherePossible(cachedBlocks(message, path));
}

/** Returns the blocks of a message. A caching hint on the message itself is moved to its last block. */
function cachedBlocks(message: JsonObject, path: string): JsonObject[] {
  const blocks = contentBlocks(message.content, `${path}.content`);
  const last = blocks.at(-1);
  if (last && cacheControlOf(message) !== undefined) blocks[blocks.length - 1] = withCacheControl(last, message);
  return blocks;
}

function toolResult(message: JsonObject, path: string): JsonObject {
  if (typeof message.tool_call_id !== 'string') throw badParam(`${path}.tool_call_id`, 'text is required');
  const content = typeof message.content === 'string' ? message.content : contentBlocks(message.content, `${path}.content`);
  const isError = message.is_error === undefined ? {} : { is_error: message.is_error };
  return withCacheControl({ type: 'tool_result', tool_use_id: toolId(message.tool_call_id), content, ...isError }, message);
}

/**
 * Returns the blocks of an assistant turn. `content_blocks`, which this gateway adds to replies without strict compliance, are
 * sent unchanged, so that signed reasoning survives the round trip. Text and tool calls that they lack are taken from the OpenAI
 * fields.
 */
function assistantContent(message: JsonObject, path: string, call: OperationCall): JsonObject[] {
  const given = objectsIn(message.content_blocks).map(openBlock);
  const passed = given.filter((block) => isOwnReasoning(block, call) && !isNativePart(block) && !isServerToolItem(block));
  if (passed.length < given.length) noteOnce(call.dropped, 'messages.content_blocks');
  if (message.reasoning_content && given.length === 0) noteOnce(call.dropped, 'messages.reasoning_content');
  const calls = new Map(toolUses(message, path, call).map((use) => [use.id, use]));
  const blocks: JsonObject[] = [];
  for (const block of passed) {
    if (block.type !== 'tool_use') blocks.push(block);
    else {
      // A client that assembled the block from stream deltas has the complete arguments only in `tool_calls`.
      const { partial_json: _, ...whole } = block;
      blocks.push({ ...whole, ...calls.get(block.id) });
      calls.delete(block.id);
    }
  }
  if (!passed.some((block) => block.type === 'text')) {
    const from = blocks.findIndex((block) => block.type === 'tool_use');
    const texts = [...cachedBlocks(message, path), ...contentBlocks(message.refusal, `${path}.refusal`)];
    blocks.splice(from < 0 ? blocks.length : from, 0, ...texts);
  }
  return [...blocks.filter((block) => block.type !== 'text' || !isBlank(block.text)), ...calls.values()];
}

function toolUses(message: JsonObject, path: string, call: OperationCall): JsonObject[] {
  if (message.tool_calls === undefined || message.tool_calls === null) return [];
  if (!Array.isArray(message.tool_calls)) throw badParam(`${path}.tool_calls`, 'a list is expected');
  return message.tool_calls.map((toolCall, index) => {
    const at = `${path}.tool_calls[${index}]`;
    if (!isObject(toolCall) || !isObject(toolCall.function)) throw badParam(at, 'only calls of functions are supported');
    if (typeof toolCall.id !== 'string') throw badParam(`${at}.id`, 'text is required');
    const use = { type: 'tool_use', id: toolId(toolCall.id), name: toolCall.function.name };
    return withCacheControl({ ...use, input: toolArguments(toolCall.function.arguments, call) }, toolCall);
  });
}

/**
 * Replaces characters in ids of other providers that Claude refuses. The ids of a call and its result change alike, so they still
 * match.
 */
function toolId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}
