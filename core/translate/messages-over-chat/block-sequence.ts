import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { citationOfFile, isRangeless } from '../../formats/document-citations.ts';
import { webAddressIn } from '../../formats/openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../formats/reply-notes.ts';
import { sealBlock } from '../../formats/sealed-blocks.ts';
import { fieldsOf, type MessageSink } from '../chat-message-reader.ts';
import { callIdOf } from '../reply-fields.ts';
import { toolInput } from '../tool-input.ts';
import { WholeObject } from '../whole-object.ts';
import { ownNames } from './tool-names.ts';

/** Converts pieces of a reply, in any order, to the content block events of a Messages stream. */
export interface BlockSequence extends MessageSink {
  /** Closes the open items. */
  finish(): JsonObject[];
  callsTools(): boolean;
  refuses(): boolean;
}

interface Block {
  readonly kind: 'thinking' | 'text' | 'tool' | 'whole';
  /** Differs between native blocks of text or reasoning. */
  readonly key: unknown;
  /** Content of `content_block_start`. A tool's id and name are complete before it is sent. */
  readonly opening: JsonObject;
  /** Deltas that wait until the block can be sent. */
  waiting: JsonObject[];
  /** Arguments of a tool so far. */
  readonly input: WholeObject;
  /** A signature ends a reasoning block. Later pieces belong to the next one. */
  sealed: boolean;
}

/**
 * Messages blocks follow one another, each closed before the next begins, while chat chunks may mix several tool calls. The first
 * open block is sent as it arrives. Later ones wait until they are complete: text when something follows it, a tool call when its
 * arguments are complete JSON. Nothing is lost or reordered inside a block.
 */
export function blockSequence(call: OperationCall, seals: boolean): BlockSequence {
  const blocks: Block[] = [];
  const tools = new Map<unknown, Block>();
  const nameOf = ownNames(call);
  /** Index of the block that is being sent. */
  let live = 0;
  let opened = false;
  let refused = false;
  /** True after a citation of a web page in Anthropic's own form. Annotations then only repeat it. */
  let cites = false;

  const open = (kind: Block['kind'], opening: JsonObject, key: unknown = undefined): Block => {
    const block: Block = { kind, key, opening, waiting: [], input: new WholeObject(), sealed: false };
    blocks.push(block);
    return block;
  };

  /** Returns all events that can be sent now. `all`: no further pieces will follow. */
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

  /** Returns the block for text of this kind: the last one, unless something else has followed it. */
  const current = (kind: 'thinking' | 'text', key: unknown): Block => {
    const last = blocks.at(-1);
    if (last?.kind === kind && !last.sealed && (key === undefined || last.key === key)) return last;
    return open(kind, kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }, key);
  };

  const add = (block: Block, delta: JsonObject): JsonObject[] => {
    block.waiting.push(delta);
    return advance();
  };

  /** Adds a block that arrives in one piece. */
  const whole = (block: JsonObject): JsonObject[] => {
    open('whole', block);
    return advance();
  };

  return {
    reasoningPart(key, piece) {
      if (piece.type === 'redacted_thinking') return whole({ type: piece.type, data: piece.data });
      const events: JsonObject[] = [];
      const { thinking, signature } = piece;
      if (typeof thinking === 'string' && thinking !== '') {
        events.push(...add(current('thinking', key), { type: 'thinking_delta', thinking }));
      }
      if (typeof signature === 'string' && signature !== '') {
        const block = current('thinking', key);
        block.sealed = true;
        events.push(...add(block, { type: 'signature_delta', signature }));
      }
      return events;
    },
    text: (text, _logprobs, key) => add(current('text', key), { type: 'text_delta', text }),
    refusal(text) {
      refused = true;
      return add(current('text', undefined), { type: 'text_delta', text });
    },
    annotation(annotation, cited) {
      if (cites) return [];
      const fields = fieldsOf(annotation);
      const { url, title } = fields;
      if (annotation.type !== 'url_citation' || typeof url !== 'string') {
        const citation = citationOfFile(fields);
        if (citation === null) dropFromReply(call, 'annotations');
        else adaptInReply(call, 'annotations');
        return citation === null ? [] : add(current('text', undefined), { type: 'citations_delta', citation });
      }
      adaptInReply(call, 'annotations');
      // The span of the reply replaces the text of the page, which providers do not return.
      const citation = { type: 'web_search_result_location', cited_text: cited, encrypted_index: '', title: title ?? null, url };
      return add(current('text', undefined), { type: 'citations_delta', citation });
    },
    citation(citation, key) {
      cites ||= webAddressIn(citation.url, citation.source) !== null;
      if (isRangeless(citation)) adaptInReply(call, 'citations');
      return add(current('text', key), { type: 'citations_delta', citation });
    },
    image() {
      dropFromReply(call, 'images');
      return [];
    },
    native(block) {
      if (!seals) {
        dropFromReply(call, block.type);
        return [];
      }
      adaptInReply(call, block.type);
      return whole(sealBlock(block));
    },
    tool(toolCall) {
      const fn = isObject(toolCall.function) ? toolCall.function : {};
      const key = toolCall.index ?? toolCall.id;
      let block = tools.get(key);
      if (block === undefined) {
        block = open('tool', { type: 'tool_use', id: callIdOf(toolCall, call), name: nameOf(fn.name), input: {} });
        tools.set(key, block);
      }
      if (typeof fn.arguments !== 'string' || fn.arguments === '') return advance();
      block.input.push(fn.arguments);
      return add(block, { type: 'input_json_delta', partial_json: fn.arguments });
    },
    finish: () => advance(true),
    callsTools: () => tools.size > 0,
    refuses: () => refused,
  };
}

function isWhole(block: Block): boolean {
  return block.kind !== 'tool' || block.input.isWhole();
}

/** Builds the blocks of a plain reply from the events of a stream. */
export function blocksOfEvents(events: readonly JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  let input = '';
  for (const { type, content_block: opening, delta } of events) {
    if (type === 'content_block_start' && isObject(opening)) blocks.push({ ...opening });
    const block = blocks.at(-1);
    if (block === undefined) continue;
    if (type === 'content_block_delta' && isObject(delta)) {
      if (delta.type === 'citations_delta') citationsIn(block).push(delta.citation);
      else if (delta.type === 'input_json_delta') input += String(delta.partial_json);
      else for (const name of ['text', 'thinking', 'signature']) if (name in delta) block[name] = `${block[name]}${delta[name]}`;
    } else if (type === 'content_block_stop' && block.type === 'tool_use') {
      block.input = toolInput(input);
      input = '';
    }
  }
  return blocks;
}

function citationsIn(block: JsonObject): unknown[] {
  const citations = Array.isArray(block.citations) ? block.citations : [];
  block.citations = citations;
  return citations;
}
