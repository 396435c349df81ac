import { isObject, type JsonObject } from '../../contract/json.ts';

/** Turns pieces of a reply, in whatever order they come, into the content block events of a Messages stream. */
export interface BlockSequence {
  thinking(text: string): JsonObject[];
  signature(text: string): JsonObject[];
  text(text: string): JsonObject[];
  /** One entry of `delta.tool_calls`. */
  tool(toolCall: JsonObject): JsonObject[];
  /** A block that comes in one piece. */
  whole(block: JsonObject): JsonObject[];
  /** Closes what is open. */
  finish(): JsonObject[];
  callsTools(): boolean;
}

interface Block {
  readonly kind: 'thinking' | 'text' | 'tool' | 'whole';
  /** What `content_block_start` says; a tool's id and name are complete before it is sent. */
  readonly opening: JsonObject;
  /** Deltas that wait for their turn. */
  waiting: JsonObject[];
  /** Arguments of a tool so far. */
  text: string;
  /** A signature closes a thought: what follows belongs to the next one. */
  sealed: boolean;
}

/**
 * Messages blocks follow one another, each closed before the next begins, while chat chunks may mix several tool calls. The
 * first open block is sent as it comes; later ones wait until it is known to be whole: text as soon as something follows it,
 * a tool call once its arguments are complete JSON. Nothing is ever lost or reordered inside a block.
 */
export function blockSequence(): BlockSequence {
  const blocks: Block[] = [];
  const tools = new Map<unknown, Block>();
  /** Place of the block that is being sent. */
  let live = 0;
  let opened = false;

  const open = (kind: Block['kind'], opening: JsonObject): Block => {
    const block: Block = { kind, opening, waiting: [], text: '', sealed: false };
    blocks.push(block);
    return block;
  };

  /** Everything that may be sent now. `all` = nothing more will come. */
  const advance = (all = false): JsonObject[] => {
    const events: JsonObject[] = [];
    for (;;) {
      const block = blocks[live];
      if (block === undefined) return events;
      if (!opened) events.push({ type: 'content_block_start', index: live, content_block: block.opening });
      opened = true;
      for (const delta of block.waiting) events.push({ type: 'content_block_delta', index: live, delta });
      block.waiting = [];
      const followed = live < blocks.length - 1;
      if (!all && !(followed && isWhole(block))) return events;
      events.push({ type: 'content_block_stop', index: live });
      live += 1;
      opened = false;
    }
  };

  /** The block that text of this kind belongs to: the last one, as long as nothing else has come since. */
  const current = (kind: 'thinking' | 'text'): Block => {
    const last = blocks.at(-1);
    if (last?.kind === kind && !last.sealed) return last;
    return open(kind, kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' });
  };

  const add = (block: Block, delta: JsonObject): JsonObject[] => {
    block.waiting.push(delta);
    return advance();
  };

  return {
    thinking: (text) => (text === '' ? [] : add(current('thinking'), { type: 'thinking_delta', thinking: text })),
    signature(text) {
      const block = current('thinking');
      block.sealed = true;
      return add(block, { type: 'signature_delta', signature: text });
    },
    text: (text) => (text === '' ? [] : add(current('text'), { type: 'text_delta', text })),
    tool(toolCall) {
      const fn = isObject(toolCall.function) ? toolCall.function : {};
      const key = toolCall.index ?? toolCall.id;
      let block = tools.get(key);
      if (block === undefined) {
        block = open('tool', { type: 'tool_use', id: toolCall.id, name: fn.name, input: {} });
        tools.set(key, block);
      }
      if (typeof fn.arguments !== 'string' || fn.arguments === '') return advance();
      block.text += fn.arguments;
      return add(block, { type: 'input_json_delta', partial_json: fn.arguments });
    },
    whole(block) {
      open('whole', block);
      return advance();
    },
    finish: () => advance(true),
    callsTools: () => tools.size > 0,
  };
}

function isWhole(block: Block): boolean {
  if (block.kind !== 'tool') return true;
  try {
    return isObject(JSON.parse(block.text));
  } catch {
    return false;
  }
}
