import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { fileCitationOf } from '../../formats/document-citations.ts';
import { webAddressIn } from '../../formats/openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../formats/reply-notes.ts';
import { sealBlock } from '../../formats/sealed-blocks.ts';
import type { MessageSink } from '../chat-message-reader.ts';
import { callIdOf } from '../reply-fields.ts';
import { messageItem } from './output-message.ts';
import { reasoningItem } from './output-reasoning.ts';
import { customToolItem, type ToolItem, toolItem } from './output-tool.ts';

/** One item of a response under construction. Every function returns the events that describe the change. */
export interface OutputItem {
  /** The item in its present state. */
  readonly value: JsonObject;
  /** True if no further pieces can arrive for it, so that the next item may close it. */
  isWhole(): boolean;
  /** Marks the item as complete. `cut` = the reply ended in the middle of it. */
  close(cut: boolean): JsonObject[];
}

/** Converts pieces of a reply, in any order, to output items and the events of a Responses stream. */
export interface OutputItems extends MessageSink {
  /** Closes the open items. */
  finish(cut: boolean): JsonObject[];
  /** The items so far, in their order. */
  output(): JsonObject[];
}

/**
 * Items begin in the order of their first pieces. Text and reasoning are closed as soon as something else begins, except an image:
 * Gemini may send one within a word, and a chat message has one text. A tool call stays open until its arguments are complete,
 * because chat chunks may mix several calls.
 */
export function outputItems(call: OperationCall, seals: boolean): OutputItems {
  const items: OutputItem[] = [];
  const open = new Set<OutputItem>();
  /** Positions of open items that are complete. The next item closes them without a search among the others. */
  const ready = new Set<number>();
  /** Tool calls and their positions. */
  const tools = new Map<unknown, [ToolItem, number]>();
  let reasoning: ReturnType<typeof reasoningItem> | null = null;
  let message: ReturnType<typeof messageItem> | null = null;
  /** Characters of text so far. Annotations have offsets in all of the text, items in their own. */
  let spoken = 0;

  const note = (item: OutputItem, position: number): void => {
    if (open.has(item) && item.isWhole()) ready.add(position);
    else ready.delete(position);
  };
  const begin = <Item extends OutputItem>(item: Item): JsonObject[] => {
    const events: JsonObject[] = [];
    for (const position of [...ready].sort((a, b) => a - b)) {
      const other = items[position] as OutputItem;
      events.push(...other.close(false));
      open.delete(other);
    }
    ready.clear();
    items.push(item);
    open.add(item);
    note(item, items.length - 1);
    events.push({ type: 'response.output_item.added', output_index: items.length - 1, item: structuredClone(item.value) });
    return events;
  };
  const addTo = (item: ToolItem, position: number, text: string): JsonObject[] => {
    const events = item.add(text);
    note(item, position);
    return events;
  };
  const inMessage = (): [NonNullable<typeof message>, JsonObject[]] => {
    if (message !== null && open.has(message)) return [message, []];
    message = messageItem(call.newId('msg_'), items.length, () => spoken);
    return [message, begin(message)];
  };

  return {
    hasCustomTools: true,
    reasoningPart(key, piece) {
      const events: JsonObject[] = [];
      if (reasoning === null || !open.has(reasoning)) {
        reasoning = reasoningItem(call.newId('rs_'), items.length);
        events.push(...begin(reasoning));
      }
      return [...events, ...reasoning.add(key, piece)];
    },
    text(text, logprobs) {
      const [item, events] = inMessage();
      events.push(...item.text(text, logprobs));
      spoken += text.length;
      return events;
    },
    refusal(text) {
      const [item, events] = inMessage();
      return [...events, ...item.refusal(text)];
    },
    annotation(annotation) {
      const [item, events] = inMessage();
      return [...events, ...item.annotate(annotation)];
    },
    citation(citation) {
      adaptInReply(call, 'citations');
      // Citations of web pages arrive as annotations too.
      if (webAddressIn(citation.url, citation.source) !== null) return [];
      const [item, events] = inMessage();
      return [...events, ...item.annotate(fileCitationOf(citation))];
    },
    native(block) {
      if (!seals) {
        dropFromReply(call, block.type);
        return [];
      }
      adaptInReply(call, block.type);
      return this.reasoningPart(block, sealBlock(block));
    },
    tool(toolCall) {
      const { function: fn, custom } = toolCall;
      const called = isObject(custom) ? custom : isObject(fn) ? fn : {};
      const key = toolCall.index ?? toolCall.id;
      const known = tools.get(key);
      const given = called.input ?? called.arguments;
      const text = typeof given === 'string' ? given : '';
      if (known !== undefined) return addTo(...known, text);
      const callId = callIdOf(toolCall, call);
      const item = isObject(custom)
        ? customToolItem(call.newId('ctc_'), callId, called.name, items.length)
        : toolItem(call.newId('fc_'), callId, called.name, items.length);
      const position = items.length;
      tools.set(key, [item, position]);
      return [...begin(item), ...addTo(item, position, text)];
    },
    image(image) {
      const { url } = isObject(image.image_url) ? image.image_url : {};
      const [, format, result] = /^data:image\/([a-z0-9.+-]+);base64,(.*)$/is.exec(String(url)) ?? [];
      if (result === undefined) {
        dropFromReply(call, 'images');
        return [];
      }
      const id = call.newId('ig_');
      const value = { id, type: 'image_generation_call', status: 'completed', result, output_format: format };
      const position = items.length;
      items.push({ value, isWhole: () => true, close: () => [] });
      return ['added', 'done'].map((name) => ({ type: `response.output_item.${name}`, output_index: position, item: value }));
    },
    finish(cut) {
      const last = [...open].at(-1);
      // Free text shows no end. Models write calls one after another, so an earlier call of a custom tool is complete.
      const isEnded = (item: OutputItem): boolean => item.value.type === 'custom_tool_call' || item.isWhole();
      const events = [...open].flatMap((item) => item.close(cut && (item === last || !isEnded(item))));
      open.clear();
      ready.clear();
      return events;
    },
    output: () => items.map((item) => item.value),
  };
}
