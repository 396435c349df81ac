import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { typedEvent } from '../../../core/contract/values/text/event-text.ts';

/** Writes a message as events. Null if it has no content list. */
export function messageToEvents(message: JsonObject): string | null {
  const { content, stop_reason, stop_sequence, usage, ...head } = message;
  if (!Array.isArray(content)) return null;
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  let stream = typedEvent({ type: 'message_start', message: start });
  for (const [index, block] of content.filter(isObject).entries()) {
    const { begin, deltas } = splitBlock(block);
    stream += typedEvent({ type: 'content_block_start', index, content_block: begin });
    for (const delta of deltas) stream += typedEvent({ type: 'content_block_delta', index, delta });
    stream += typedEvent({ type: 'content_block_stop', index });
  }
  stream += typedEvent({ type: 'message_delta', delta: { stop_reason, stop_sequence: stop_sequence ?? null }, usage });
  return stream + typedEvent({ type: 'message_stop' });
}

/** Returns a block as it begins in a stream, and the deltas that complete it. */
function splitBlock(block: JsonObject): { begin: JsonObject; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text': {
      const { citations, ...begin } = block;
      const cited = Array.isArray(citations) ? citations.map((citation) => ({ type: 'citations_delta', citation })) : [];
      const empty = citations === undefined ? {} : { citations: citations === null ? null : [] };
      return { begin: { ...begin, ...empty, text: '' }, deltas: [{ type: 'text_delta', text: block.text }, ...cited] };
    }
    case 'thinking':
      return {
        begin: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        begin: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }],
      };
    default:
      return { begin: block, deltas: [] };
  }
}
