import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import { noteOnce } from '../note-once.ts';

/**
 * The marks of signatures that other providers gave, and of blocks that this gateway sealed, as it hands them out
 * (`gemini/signatures.ts`, `chat-over-responses/signed-thoughts.ts`, `sealed-blocks.ts`).
 */
const foreign = /^(gemini|openai|native):/;

/**
 * True for a thought that Claude can take back: signed, and by Claude. In a conversation that moved between providers there may be
 * others, and one of them makes the whole call fail.
 */
export function isOwnThought(block: JsonObject): boolean {
  if (block.type === 'redacted_thinking') return typeof block.data !== 'string' || !foreign.test(block.data);
  if (block.type !== 'thinking') return true;
  return typeof block.signature === 'string' && block.signature !== '' && !foreign.test(block.signature);
}

/** A Messages call without the thoughts of other models; the very same object where there are none. */
export function withOwnThoughts(params: JsonObject, call: OperationCall): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some(holdsForeign)) return params;
  noteOnce(call.dropped, 'messages.thinking');
  const turns = messages.flatMap((turn: JsonObject) => {
    if (!holdsForeign(turn)) return [turn];
    const content = (turn.content as unknown[]).filter((block) => !isObject(block) || isOwnThought(block));
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
  return { ...params, messages: turns };
}

function holdsForeign(turn: unknown): boolean {
  if (!isObject(turn) || turn.role !== 'assistant' || !Array.isArray(turn.content)) return false;
  return turn.content.some((block) => isObject(block) && !isOwnThought(block));
}
