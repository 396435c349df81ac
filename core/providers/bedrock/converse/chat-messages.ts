import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { trimEnd } from '../../../formats/anthropic/chat-messages.ts';
import { isOwnReasoning } from '../../../formats/anthropic/own-reasoning.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { toolArguments } from '../../../formats/openai/tool-arguments.ts';
import { isNativePart, isSharedBlock, openBlock } from '../../../formats/sealed-blocks.ts';
import { makerOf } from '../model-id.ts';
import { cachePoints, withoutRejectedPoints } from './cache-points.ts';
import { contentBlocks, documentNames, type NameDocument, textBlocks } from './content-parts.ts';
import { separateResults } from './separate-results.ts';
import { toolId } from './tool-id.ts';
import { toolResult } from './tool-result.ts';

/** A chat history in the form of the Converse API, with instructions separate from the turns. */
export interface Conversation {
  readonly system: JsonObject[];
  readonly messages: { readonly role: 'user' | 'assistant'; readonly content: JsonObject[] }[];
}

/**
 * Splits chat messages into system blocks and turns. Consecutive messages of one role become one turn, because roles must
 * alternate. Results of parallel tool calls therefore share a turn. Throws `bad_request` naming the message it cannot read.
 */
export function toConversation(messages: unknown, call: OperationCall): Conversation {
  if (!Array.isArray(messages)) throw badParam('messages', 'a list of messages is required');
  const names = documentNames();
  const system: JsonObject[] = [];
  const turns: Conversation['messages'] = [];
  const add = (role: 'user' | 'assistant', content: JsonObject[]): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
    else noteOnce(call.adapted, 'messages');
  };
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw badParam(path, 'a message must be an object');
    if (message.name !== undefined) noteOnce(call.dropped, 'messages.name');
    if (message.role === 'system' || message.role === 'developer') {
      if (turns.length > 0) noteOnce(call.adapted, 'messages');
      system.push(...hinted(message, call, contentBlocks(message.content, `${path}.content`, names, call)));
    } else if (message.role === 'user') {
      add('user', hinted(message, call, contentBlocks(message.content, `${path}.content`, names, call)));
    } else if (message.role === 'tool') {
      add('user', toolResult(message, path, names, call));
    } else if (message.role === 'assistant') {
      const blocks = assistantContent(message, path, call, names);
      add('assistant', hinted(message, call, index === messages.length - 1 ? trimEnd(blocks, call) : blocks));
    } else {
      throw badParam(`${path}.role`, 'system, developer, user, assistant or tool is expected');
    }
  }
  if (turns.length > 0 || system.length === 0)
    return { system, messages: separateResults(withoutRejectedPoints(turns, call), call) };
  // Bedrock refuses a call that holds instructions only, so they are sent as the user's turn.
  noteOnce(call.adapted, 'messages');
  return { system: [], messages: [{ role: 'user', content: system }] };
}

/** A caching hint on the message itself follows its last block. */
function hinted(message: JsonObject, call: OperationCall, blocks: JsonObject[]): JsonObject[] {
  return blocks.length === 0 ? blocks : [...blocks, ...cachePoints(message, call)];
}

/**
 * Returns the blocks of an assistant turn: signed reasoning as it was received (`content_blocks`, which this gateway adds to
 * replies without strict compliance), then text, then tool calls.
 */
function assistantContent(message: JsonObject, path: string, call: OperationCall, names: NameDocument): JsonObject[] {
  const passed = objectsIn(message.content_blocks).map(openBlock);
  const reasoning = passed.flatMap((block) => reasoningBlock(block, call));
  const native = passed.flatMap((block) => nativeBlock(block, call));
  if (message.reasoning_content && reasoning.length === 0) noteOnce(call.dropped, 'messages.reasoning_content');
  const blocks = contentBlocks(message.content, `${path}.content`, names, call);
  return [...reasoning, ...native, ...blocks, ...textBlocks(message.refusal), ...toolUses(message, path, call)];
}

/** Reasoning is accepted only with a signature, and only by makers that sign it. All others reject the field. */
function reasoningBlock(block: JsonObject, call: OperationCall): JsonObject[] {
  if (block.type !== 'thinking' && block.type !== 'redacted_thinking') return [];
  const maker = makerOf(call.model);
  if ((maker === 'anthropic' || maker === '') && isOwnReasoning(block, call)) {
    if (block.type === 'redacted_thinking') return [{ reasoningContent: { redactedContent: block.data } }];
    return [{ reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } }];
  }
  noteOnce(call.dropped, 'messages.content_blocks');
  return [];
}

/** Sends blocks of the provider's own tools back to Nova models, which run such tools. Other models refuse them. */
function nativeBlock(block: JsonObject, call: OperationCall): JsonObject[] {
  if (isSharedBlock(block)) return [];
  const isServerTool = block.type === 'server_tool_use';
  if (makerOf(call.model) !== 'amazon' || (!isServerTool && !isNativePart(block))) {
    noteOnce(call.dropped, 'messages.content_blocks');
    return [];
  }
  const { type, ...fields } = block;
  if (!isServerTool) return [fields];
  return [{ toolUse: { toolUseId: fields.id, name: fields.name, input: fields.input, type } }];
}

function toolUses(message: JsonObject, path: string, call: OperationCall): JsonObject[] {
  if (message.tool_calls === undefined || message.tool_calls === null) return [];
  if (!Array.isArray(message.tool_calls)) throw badParam(`${path}.tool_calls`, 'a list is expected');
  return message.tool_calls.flatMap((toolCall, index) => {
    const at = `${path}.tool_calls[${index}]`;
    if (!isObject(toolCall) || !isObject(toolCall.function)) throw badParam(at, 'only calls of functions are supported');
    if (typeof toolCall.id !== 'string') throw badParam(`${at}.id`, 'text is required');
    const { name, arguments: text } = toolCall.function;
    return [
      { toolUse: { toolUseId: toolId(toolCall.id), name, input: toolArguments(text, call) } },
      ...cachePoints(toolCall, call),
    ];
  });
}
