import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { withoutBillingLine } from './billing-line.ts';
import { partsOfBlocks } from './parts.ts';
import type { ChatExtra } from './request.ts';
import { sentName } from './tool-names.ts';

/**
 * Converts the system text and turns of a Messages call to chat messages. Throws `bad_request` naming the message it cannot read.
 */
export function toChatMessages(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  const turns = params.messages;
  if (!Array.isArray(turns)) throw badParam('messages', 'a list of messages is required');
  const toContent = (content: unknown, path: string): unknown => contentOf(partsOfBlocks(content, path, call, understands));
  const system = toContent(withoutBillingLine(params.system, call), 'system');
  const messages: JsonObject[] = systemMessages(system);
  const lastOfUser = turns.findLastIndex((turn) => isObject(turn) && turn.role === 'user');
  for (const [index, turn] of turns.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(turn)) throw badParam(path, 'a message must be an object');
    if (turn.role === 'user') messages.push(...userMessages(turn, path, call, understands));
    else if (turn.role === 'assistant') messages.push(...assistantMessages(turn, path, call, understands));
    else if (turn.role === 'system') {
      // Claude Code reminds the model of something for one turn, and sends all earlier reminders again.
      if (turn.clear_at === 'next_user_message' && index < lastOfUser) noteOnce(call.adapted, 'messages.clear_at');
      else messages.push(...systemMessages(toContent(turn.content, `${path}.content`)));
    } else throw badParam(`${path}.role`, 'user, assistant or system is expected');
  }
  return messages;
}

/** Returns no message for an empty text: a turn may have only blocks that are left out, such as `tool_addition`. */
function systemMessages(content: unknown): JsonObject[] {
  return content === '' ? [] : [{ role: 'system', content }];
}

/**
 * Converts one user turn. Chat completions require tool results first, as messages of their own with text only. Images of results
 * and all other parts of the turn follow as one user message, so nothing of the turn is lost.
 */
function userMessages(turn: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (!Array.isArray(turn.content)) return [{ role: 'user', content: turn.content }];
  const tools: JsonObject[] = [];
  const rest: JsonObject[] = [];
  for (const [index, block] of turn.content.entries()) {
    const at = `${path}.content[${index}]`;
    if (!isObject(block) || block.type !== 'tool_result') {
      rest.push(...partsOfBlocks([block], at, call, understands));
      continue;
    }
    const parts = partsOfBlocks(block.content, at, call, understands);
    const isInline = (part: JsonObject): boolean => part.type === 'text' || understands.includes('tool_media');
    const inline = parts.filter(isInline);
    const others = parts.filter((part) => !isInline(part));
    const failed = block.is_error === true && understands.includes('tool_errors') ? { is_error: true } : {};
    if (block.is_error === true && !understands.includes('tool_errors')) noteOnce(call.dropped, 'messages.is_error');
    tools.push({ role: 'tool', tool_call_id: block.tool_use_id, content: contentOf(inline), ...failed });
    if (others.length === 0) continue;
    noteOnce(call.adapted, 'messages.tool_result');
    rest.push({ type: 'text', text: `Attached to the result of tool call ${String(block.tool_use_id)}:` }, ...others);
  }
  return rest.length > 0 || tools.length === 0 ? [...tools, { role: 'user', content: contentOf(rest) }] : tools;
}

/**
 * Returns no message for a turn of which nothing is left, such as a paused turn of Anthropic's own tools: chat completions reject a
 * message without text and tool calls.
 */
function assistantMessages(turn: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (!Array.isArray(turn.content)) return [{ role: 'assistant', content: turn.content }];
  const blocks = turn.content.filter(isObject);
  const reasoning = blocks.filter((block) => block.type === 'thinking').map((block) => String(block.thinking ?? ''));
  const toolCalls = blocks.filter((block) => block.type === 'tool_use').map((block) => toolCall(block, call));
  const sealed = understands.includes('content_blocks') ? blocks.filter(isReasoning) : [];
  const spoken = blocks.filter((block) => block.type !== 'tool_use' && block.type !== 'thinking' && !sealed.includes(block));
  const parts = partsOfBlocks(spoken, path, call, understands);
  const keepsReasoning = understands.includes('reasoning_content');
  if (reasoning.length > 0 && sealed.length === 0 && !keepsReasoning) noteOnce(call.dropped, 'messages.thinking');
  const others = {
    ...(keepsReasoning && reasoning.length > 0 ? { reasoning_content: reasoning.join('') } : {}),
    ...(sealed.length > 0 ? { content_blocks: sealed } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const text = assistantText(parts, call);
  if (text === '' && Object.keys(others).length === 0) {
    noteOnce(call.adapted, 'messages');
    return [];
  }
  return [{ role: 'assistant', content: text === '' && toolCalls.length + sealed.length > 0 ? null : text, ...others }];
}

/**
 * Returns the texts of an assistant turn. Blocks of one reply may be split anywhere, even inside a sentence, so they are joined
 * without a line break. Other parts cannot be carried and are reported.
 */
function assistantText(parts: readonly JsonObject[], call: OperationCall): string {
  const texts = parts.flatMap((part) => {
    if (typeof part.text === 'string') return [part.text];
    noteOnce(call.dropped, `messages.${String(part.type)}`);
    return [];
  });
  return texts.join('');
}

function isReasoning(block: JsonObject): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function toolCall(block: JsonObject, call: OperationCall): JsonObject {
  const fn = { name: sentName(block.name, call), arguments: JSON.stringify(block.input ?? {}) };
  return { id: block.id, type: 'function', function: fn };
}

/** Uses plain text if there is only text: many compatible servers accept no list of parts for it. */
function contentOf(parts: readonly JsonObject[]): unknown {
  if (parts.every((part) => part.type === 'text' && part.cache_control === undefined))
    return parts.map((part) => part.text).join('\n');
  return parts;
}
