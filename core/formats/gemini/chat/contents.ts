import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { noteOnce } from '../../note-once.ts';
import { traitsOf } from '../models.ts';
import { contentParts } from '../parts.ts';
import { modelParts } from './model-parts.ts';
import { unsigned } from './signatures.ts';

/** A chat history in Gemini's form, with instructions separate from the turns. */
export interface Conversation {
  readonly system: JsonObject[];
  readonly contents: JsonObject[];
}

/**
 * Splits chat messages into system parts and turns. Consecutive messages of one role become one turn. Tool results become a turn
 * of their own, with one part per call. Throws `bad_request` naming the message it cannot read.
 */
export function toConversation(messages: unknown, call: OperationCall): Conversation {
  if (!Array.isArray(messages)) throw badParam('messages', 'a list of messages is required');
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  const names = new Map<unknown, unknown>();
  /** The positions of calls in the conversation. */
  const positions = new Map<unknown, number>();
  let position = 0;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw badParam(path, 'a message must be an object');
    if (message.name !== undefined && message.role !== 'tool') noteOnce(call.dropped, 'messages.name');
    if (message.role === 'system' || message.role === 'developer') {
      if (turns.length > 0) noteOnce(call.adapted, 'messages');
      system.push(...contentParts(message.content, `${path}.content`, call));
    } else if (message.role === 'user') {
      add(turns, 'user', contentParts(message.content, `${path}.content`, call), call);
    } else if (message.role === 'assistant') {
      for (const toolCall of objectsIn(message.tool_calls)) {
        if (!isObject(toolCall.function)) continue;
        names.set(toolCall.id, toolCall.function.name);
        positions.set(toolCall.id, ++position);
      }
      add(turns, 'model', modelParts(message, path, call), call);
    } else if (message.role === 'tool') {
      addResult(turns, toolParts(message, names, path, call), positions.get(message.tool_call_id) ?? 0);
    } else {
      throw badParam(`${path}.role`, 'system, developer, user, assistant or tool is expected');
    }
  }
  if (traitsOf(call.model).signedCalls) signCurrentTurn(turns, call);
  if (turns.length > 0 || system.length === 0) return { system, contents: turns.map(toContent) };
  // Gemini refuses a call that holds instructions only, so they are sent as the user's turn.
  noteOnce(call.adapted, 'messages');
  return { system: [], contents: [{ role: 'user', parts: system }] };
}

interface Turn {
  readonly side: 'user' | 'model' | 'tool';
  readonly parts: JsonObject[];
  /** The positions of the calls whose results the parts are. */
  readonly positions?: number[];
}

/** Adds a result in the order of the calls: models before Gemini 3 have no ids of calls, and match results of one function by order. */
function addResult(turns: Turn[], parts: JsonObject[], position: number): void {
  const last = turns.at(-1);
  const positions = parts.map(() => position);
  if (!last?.positions) {
    turns.push({ side: 'tool', parts, positions });
    return;
  }
  const found = last.positions.findIndex((other) => other > position);
  const at = found < 0 ? last.positions.length : found;
  last.parts.splice(at, 0, ...parts);
  last.positions.splice(at, 0, ...positions);
}

function add(turns: Turn[], side: Turn['side'], parts: JsonObject[], call: OperationCall): void {
  const last = turns.at(-1);
  if (last?.side === side) last.parts.push(...parts);
  else if (parts.length > 0) turns.push({ side, parts: [...parts] });
  // Gemini rejects a turn without parts.
  else noteOnce(call.adapted, 'messages');
}

function toContent({ side, parts }: Turn): JsonObject {
  return { role: side === 'model' ? 'model' : 'user', parts };
}

/** Returns the result of a call, under the name of the function. Gemini expects an object and reads `output` as the result. */
function toolParts(message: JsonObject, names: ReadonlyMap<unknown, unknown>, path: string, call: OperationCall): JsonObject[] {
  const id = message.tool_call_id;
  const name = names.get(id) ?? message.name;
  if (typeof name !== 'string') throw badParam(`${path}.tool_call_id`, 'no tool call before this message has this id');
  const parts = contentParts(message.content, `${path}.content`, call);
  const text = parts.map((part) => part.text).filter((part) => typeof part === 'string');
  const response = { [message.is_error === true ? 'error' : 'output']: text.join('') };
  const withId = traitsOf(call.model).signedCalls && typeof id === 'string' ? { id } : {};
  return [{ functionResponse: { ...withId, name, response } }, ...parts.filter((part) => typeof part.text !== 'string')];
}

/**
 * Since Gemini 3 the first function call of each step after the last user message must be signed. Calls of another model, and
 * calls that lost their signature, get the placeholder.
 */
function signCurrentTurn(turns: readonly Turn[], call: OperationCall): void {
  const from = turns.findLastIndex((turn) => turn.side === 'user');
  for (const { side, parts } of turns.slice(from + 1)) {
    const first = side === 'model' ? parts.findIndex((part) => part.functionCall !== undefined) : -1;
    if (first < 0 || parts[first]?.thoughtSignature !== undefined) continue;
    parts[first] = { ...parts[first], thoughtSignature: unsigned };
    noteOnce(call.adapted, 'messages.thought_signature');
  }
}
