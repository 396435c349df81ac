import { isObject, type JsonObject, parseObject } from '../../values/json/json.ts';

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

/** Adds the stop reason and the usage from the last event. */
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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
