import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { isRangeless } from '../document-citations.ts';
import { noteOnce } from '../note-once.ts';
import { isLoopWithoutReasoning } from './tool-loop.ts';

/**
 * Prefixes that the gateway gives to signatures of other providers, and to blocks that it sealed (`gemini/signatures.ts`,
 * `chat-over-responses/signed-reasoning.ts`, `sealed-blocks.ts`).
 */
const foreign = /^(gemini|openai|native):/;

/**
 * True for blocks that Claude accepts in a request. Thinking blocks must carry a signature by Claude. A conversation that moved
 * between providers may hold blocks of other models, and a single one makes the whole call fail. Servers with Anthropic's API sign theirs
 * without a prefix, so that none is accepted once Claude has refused the call.
 */
export function isOwnReasoning(block: JsonObject, { withoutReasoning }: Pick<OperationCall, 'withoutReasoning'>): boolean {
  if (withoutReasoning && (block.type === 'thinking' || block.type === 'redacted_thinking')) return false;
  if (block.type === 'redacted_thinking') return typeof block.data !== 'string' || !foreign.test(block.data);
  if (block.type !== 'thinking') return true;
  return typeof block.signature === 'string' && block.signature !== '' && !foreign.test(block.signature);
}

/**
 * Returns a Messages call without the parts of other models that Claude refuses: their reasoning, and citations that this gateway
 * made of theirs. A tool loop that another model began gets no thinking budget. Returns the same object if nothing changes.
 */
export function withOwnReasoning(params: JsonObject, call: OperationCall): JsonObject {
  const own = withOwnBlocks(params, call);
  const { thinking, messages } = own;
  if (!isObject(thinking) || thinking.type !== 'enabled' || !Array.isArray(messages) || !isLoopWithoutReasoning(messages))
    return own;
  noteOnce(call.dropped, 'thinking');
  const { thinking: _, ...others } = own;
  return withoutClearedThinking(others, call);
}

/** Claude refuses to clear thinking blocks of a call without thinking (https://github.com/anthropics/claude-code/issues/11971). */
function withoutClearedThinking(params: JsonObject, call: OperationCall): JsonObject {
  const { context_management: management, ...others } = params;
  if (!isObject(management) || !Array.isArray(management.edits)) return params;
  const edits = management.edits.filter((edit) => !isObject(edit) || !String(edit.type).startsWith('clear_thinking_'));
  if (edits.length === management.edits.length) return params;
  noteOnce(call.dropped, 'context_management.edits');
  return edits.length === 0 ? others : { ...others, context_management: { ...management, edits } };
}

function withOwnBlocks(params: JsonObject, call: OperationCall): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some((turn) => holdsForeign(turn, call))) return params;
  const turns = messages.flatMap((turn: JsonObject) => {
    if (!holdsForeign(turn, call)) return [turn];
    const content = (turn.content as unknown[]).flatMap((block) => (isObject(block) ? ownBlocks(block, call) : [block]));
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
  return { ...params, messages: turns };
}

function ownBlocks(block: JsonObject, call: OperationCall): JsonObject[] {
  if (!isOwnReasoning(block, call)) {
    noteOnce(call.dropped, 'messages.thinking');
    return [];
  }
  if (!holdsMadeCitation(block)) return [block];
  noteOnce(call.dropped, 'messages.citations');
  const { citations, ...others } = block;
  const own = objectsIn(citations).filter((citation) => !isMadeCitation(citation));
  return [own.length > 0 ? { ...others, citations: own } : others];
}

function holdsForeign(turn: unknown, call: OperationCall): boolean {
  if (!isObject(turn) || turn.role !== 'assistant' || !Array.isArray(turn.content)) return false;
  return turn.content.some((block) => isObject(block) && (!isOwnReasoning(block, call) || holdsMadeCitation(block)));
}

function holdsMadeCitation({ type, citations }: JsonObject): boolean {
  return type === 'text' && Array.isArray(citations) && citations.some(isMadeCitation);
}

/** Claude signs its citations of web pages in `encrypted_index`; those of other models have none. */
function isMadeCitation(citation: unknown): boolean {
  if (!isObject(citation)) return false;
  return isRangeless(citation) || (citation.type === 'web_search_result_location' && citation.encrypted_index === '');
}
