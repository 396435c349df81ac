import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json.ts';
import { indexOf, namedEvent, textOf } from './events.ts';

/** Assembles a message from its events. Null if it is not complete or has deltas that are not known. */
export function messageFromEvents(events: readonly JsonObject[]): JsonObject | null {
  let message: JsonObject | null = null;
  let isComplete = false;
  const blocks: JsonObject[] = [];
  const inputs: string[] = [];
  for (const event of events) {
    const at = indexOf(event.index);
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) message = { ...event.message };
        break;
      case 'content_block_start':
        if (isObject(event.content_block)) blocks[at] = { ...event.content_block };
        break;
      case 'content_block_delta': {
        const block = blocks[at];
        if (!block || !isObject(event.delta) || !addDelta(block, event.delta, at, inputs)) return null;
        break;
      }
      case 'message_delta':
        if (message === null || !isObject(event.delta)) return null;
        message = addEnd(message, event.delta, event.usage);
        break;
      case 'message_stop':
        isComplete = true;
        break;
      case 'content_block_stop':
      case 'ping':
        break;
      default:
        return null;
    }
  }
  if (message === null || !isComplete) return null;
  for (const [at, text] of inputs.entries()) {
    const input = text === undefined || text === '' ? {} : parseObject(text);
    if (input === null) return null;
    if (text !== undefined) blocks[at] = { ...blocks[at], input };
  }
  return { ...message, content: blocks };
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Adds what the last event states: why the message ended, and its usage. */
function addEnd(message: JsonObject, delta: JsonObject, usage: unknown): JsonObject {
  return { ...message, ...delta, usage: { ...objectOf(message.usage), ...objectOf(usage) } };
}

function addDelta(block: JsonObject, delta: JsonObject, at: number, inputs: string[]): boolean {
  switch (delta.type) {
    case 'text_delta':
      block.text = textOf(block.text) + textOf(delta.text);
      return true;
    case 'thinking_delta':
      block.thinking = textOf(block.thinking) + textOf(delta.thinking);
      return true;
    case 'signature_delta':
      block.signature = delta.signature;
      return true;
    case 'citations_delta':
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation];
      return true;
    case 'input_json_delta':
      inputs[at] = (inputs[at] ?? '') + textOf(delta.partial_json);
      return true;
    default:
      return false;
  }
}

/** Writes a message as events. Null if it has no content list. */
export function messageToEvents(message: JsonObject): string | null {
  const { content, stop_reason, stop_sequence, usage, ...head } = message;
  if (!Array.isArray(content)) return null;
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  let stream = namedEvent({ type: 'message_start', message: start });
  for (const [index, block] of content.filter(isObject).entries()) {
    const { begin, deltas } = splitBlock(block);
    stream += namedEvent({ type: 'content_block_start', index, content_block: begin });
    for (const delta of deltas) stream += namedEvent({ type: 'content_block_delta', index, delta });
    stream += namedEvent({ type: 'content_block_stop', index });
  }
  stream += namedEvent({ type: 'message_delta', delta: { stop_reason, stop_sequence: stop_sequence ?? null }, usage });
  return stream + namedEvent({ type: 'message_stop' });
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
