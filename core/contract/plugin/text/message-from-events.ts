import { isObject, type JsonObject, parseObject } from '../../values/json/json.ts';

/** Assembles a message from its events. Null if it is not complete or has deltas that are not known. */
export function messageFromEvents(events: readonly JsonObject[]): JsonObject | null {
  let message: JsonObject | null = null;
  let isComplete = false;
  const blocks: JsonObject[] = [];
  const inputs = new Map<number, string>();
  for (const event of events) {
    const at = indexOf(event.index);
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) message = { ...event.message, ...usageOf(event.message) };
        break;
      case 'content_block_start':
        // A list with holes could have billions of entries.
        if (at > blocks.length) return null;
        if (isObject(event.content_block)) blocks[at] = startOf(event.content_block);
        break;
      case 'content_block_delta': {
        const block = blocks[at];
        if (!block || !isObject(event.delta) || !addDelta(block, event.delta, at, inputs)) return null;
        break;
      }
      case 'message_delta':
        if (message === null || !isObject(event.delta)) return null;
        addEnd(message, event.delta, event.usage);
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
  for (const [at, text] of inputs) {
    const input = text === '' ? {} : parseObject(text);
    if (input === null) return null;
    blocks[at] = { ...blocks[at], input };
  }
  return { ...message, content: blocks };
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Returns a copy of the usage, which later events extend. */
const usageOf = ({ usage }: JsonObject): JsonObject => (isObject(usage) ? { usage: { ...usage } } : {});

/** Returns a copy of a block, with a copy of its citations, which later events extend. */
function startOf(block: JsonObject): JsonObject {
  return Array.isArray(block.citations) ? { ...block, citations: [...block.citations] } : { ...block };
}

/** Adds the stop reason and the usage from the last event. A copy for each event would take quadratic time. */
function addEnd(message: JsonObject, delta: JsonObject, usage: unknown): void {
  const counts = objectOf(message.usage);
  Object.assign(message, delta);
  message.usage = Object.assign(counts, objectOf(usage));
}

function addDelta(block: JsonObject, delta: JsonObject, at: number, inputs: Map<number, string>): boolean {
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
      if (!Array.isArray(block.citations)) block.citations = [];
      (block.citations as unknown[]).push(delta.citation);
      return true;
    case 'input_json_delta':
      inputs.set(at, (inputs.get(at) ?? '') + textOf(delta.partial_json));
      return true;
    default:
      return false;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
