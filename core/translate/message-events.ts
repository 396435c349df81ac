import type { OperationCall } from '../contract/provider/provider.ts';
import { isObject, isText, type JsonObject, objectsIn, parseObject } from '../contract/values/json/json.ts';
import { citationsOfSources } from '../formats/document-citations.ts';
import { adaptInReply, dropFromReply, dropUnread } from '../formats/reply-notes.ts';

/**
 * Receives the content of a chat message, piece by piece, in the order of the reply. Every function returns the resulting events.
 */
export interface MessageSink {
  /** True if `tool` accepts calls of custom tools. Otherwise their input becomes the only argument of a function. */
  readonly hasCustomTools?: boolean;
  /** A piece of reasoning: text, signature, or a sealed block. `key` differs between reasoning blocks. */
  reasoningPart(key: unknown, piece: JsonObject): JsonObject[];
  /** `key` differs between native text blocks; undefined if the provider has none. */
  text(text: string, logprobs: readonly unknown[], key: unknown): JsonObject[];
  refusal(text: string): JsonObject[];
  /** A citation of a web page, as in chat completions. `cited` is the cited span of the reply. */
  annotation(annotation: JsonObject, cited: string): JsonObject[];
  /** A citation in Anthropic's form, of the text block with this key; of the current text if the key is undefined. */
  citation(citation: JsonObject, key: unknown): JsonObject[];
  /** One entry of `tool_calls`, whole or a delta of it. */
  tool(toolCall: JsonObject): JsonObject[];
  /** An image of the model, as an entry of `images`. */
  image(image: JsonObject): JsonObject[];
  /** A whole native block of any other type. */
  native(block: JsonObject): JsonObject[];
}

/** Reads a chat reply, whole or delta by delta, with the same result. */
export interface MessageReader {
  add(from: JsonObject, logprobs: unknown): JsonObject[];
  /** Returns the last events, at the end of the reply. */
  finish(): JsonObject[];
}

/** Fields of a message or delta that are read here or do not concern the content. */
const readFields: ReadonlySet<string> = new Set([
  ...['role', 'index', 'content', 'refusal', 'tool_calls', 'reasoning_content', 'reasoning', 'content_blocks', 'annotations'],
  // Signatures of Gemini, which are in thinking blocks too.
  ...['images', 'citations', 'extra_content'],
]);

const knownTypes: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

/**
 * Converts the content of chat messages and deltas to a reply of another format, in the order of the provider's native blocks if
 * it has any. Reports all content without an equivalent, including unknown fields and blocks.
 */
export function messageReader(to: MessageSink, call: OperationCall): MessageReader {
  /** All text so far. Offsets of annotations refer to it. */
  let text = '';
  let waiting: JsonObject[] = [];
  /** A native block that may be incomplete. */
  let open: { readonly key: unknown; readonly block: JsonObject; input: string } | null = null;
  const customs = new Set<unknown>();

  const annotate = (all: boolean): JsonObject[] => {
    if (waiting.length === 0) return [];
    const ready: JsonObject[] = [];
    const later: JsonObject[] = [];
    for (const annotation of waiting) (all || endOf(annotation) <= text.length ? ready : later).push(annotation);
    waiting = later;
    return ready.flatMap((annotation) => {
      const { start_index: start, end_index: end } = fieldsOf(annotation);
      const cited = typeof start === 'number' && typeof end === 'number' ? text.slice(start, end) : '';
      return to.annotation(annotation, cited);
    });
  };
  const speak = (spokenText: string, tokens: readonly unknown[], key: unknown): JsonObject[] => {
    if (spokenText === '') return [];
    text += spokenText;
    return to.text(spokenText, tokens, key);
  };
  const closeNative = (): JsonObject[] => {
    if (open === null) return [];
    const { block, input } = open;
    open = null;
    return to.native(input === '' ? block : { ...block, input: inputOf(input) });
  };
  /** True if the piece belongs to an unknown kind of block. */
  const takesNative = (key: unknown, piece: JsonObject, events: JsonObject[]): boolean => {
    if (open !== null && key === open.key && piece.type === undefined) {
      const { partial_json: input, key: _, ...more } = piece;
      if (typeof input === 'string') open.input += input;
      Object.assign(open.block, more);
      return true;
    }
    events.push(...closeNative());
    if (typeof piece.type !== 'string' || knownTypes.has(piece.type)) return false;
    const { key: _, ...block } = piece;
    open = { key, block, input: '' };
    return true;
  };
  const tool = (toolCall: JsonObject): JsonObject[] => {
    const { custom, function: fn, ...others } = toolCall;
    // Some servers send arguments as an object.
    if (isObject(fn) && isObject(fn.arguments))
      return to.tool({ ...others, function: { ...fn, arguments: JSON.stringify(fn.arguments) } });
    if (!isObject(custom) || to.hasCustomTools) return to.tool(toolCall);
    adaptInReply(call, 'custom_tool_call');
    const key = toolCall.index ?? toolCall.id;
    const opening = customs.has(key) ? '' : '{"input":"';
    customs.add(key);
    const piece = opening + JSON.stringify(String(custom.input ?? '')).slice(1, -1);
    return to.tool({ ...others, function: { name: custom.name, arguments: piece } });
  };

  const add = (from: JsonObject, logprobs: unknown): JsonObject[] => {
    // Fast path for nearly all deltas. Without it they take half as long again.
    if (open === null && waiting.length === 0 && isTextAlone(from)) return speak(from.content, tokensIn(logprobs), undefined);
    const events: JsonObject[] = [];
    const toolCalls = objectsIn(from.tool_calls).map((toolCall, index) => ({ index, ...toolCall }) as JsonObject);
    const pieces = piecesOf(from.content_blocks);
    const texts = pieces.map((piece) => (typeof piece.text === 'string' ? piece.text : '')).join('');
    let [spoken, tokens] = [spokenIn(from.content, call), tokensIn(logprobs)];
    waiting.push(...objectsIn(from.annotations));
    // Text that has no block, such as a plan for tool calls, comes before those that have.
    if (texts !== '' && spoken.endsWith(texts)) spoken = spoken.slice(0, spoken.length - texts.length);
    const say = (text: string, key: unknown): void => {
      events.push(...speak(text, tokens, key));
      if (text !== '') tokens = [];
    };
    const speakFirst = (): void => {
      say(spoken, undefined);
      spoken = '';
    };

    if (!pieces.some(isReasoning)) {
      const reasoning = reasoningText(from);
      if (reasoning !== '') events.push(...closeNative(), ...to.reasoningPart('text', { thinking: reasoning }));
    }
    for (const [position, piece] of pieces.entries()) {
      const key = piece.key ?? position;
      if (takesNative(key, piece, events)) continue;
      if (isReasoning(piece)) events.push(...to.reasoningPart(key, piece));
      else if (typeof piece.text === 'string') {
        speakFirst();
        say(piece.text, key);
      } else if (piece.type === 'tool_use') {
        speakFirst();
        events.push(...annotate(false));
        const at = toolCalls.findIndex((toolCall) => toolCall.id === piece.id);
        for (const toolCall of at === -1 ? [] : toolCalls.splice(at, 1)) events.push(...tool(toolCall));
      }
      const citations = isObject(piece.citation) ? [piece.citation] : objectsIn(piece.citations);
      for (const citation of citations) events.push(...to.citation(citation, key));
      events.push(...annotate(false));
    }
    const isFollowed = spoken !== '' || isText(from.refusal) || toolCalls.length > 0 || objectsIn(from.images).length > 0;
    if (isFollowed) events.push(...closeNative());
    speakFirst();
    if (typeof from.refusal === 'string' && from.refusal !== '') events.push(...to.refusal(from.refusal));
    events.push(...annotate(true));
    for (const toolCall of toolCalls) events.push(...tool(toolCall));
    for (const image of objectsIn(from.images)) events.push(...to.image(image));
    for (const citation of objectsIn(from.citations).flatMap(sharedCitations)) events.push(...to.citation(citation, undefined));
    dropUnread(from, readFields, call);
    return events;
  };

  return {
    add,
    finish() {
      const events = closeNative();
      for (const key of customs) events.push(...to.tool({ index: key, function: { arguments: '"}' } }));
      return events;
    },
  };
}

/** Returns the reasoning text in a message or delta, from `reasoning_content` or `reasoning`. */
function reasoningText(from: JsonObject): string {
  const { reasoning_content: content, reasoning } = from;
  if (typeof content === 'string') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/** A model wrote the arguments. Text that is not a JSON object becomes `{}`, so that the block stays valid. */
export function inputOf(text: unknown): JsonObject {
  return isObject(text) ? text : (parseObject(String(text)) ?? {});
}

/** Returns the fields of an annotation, which chat completions nest under its type. */
export function fieldsOf(annotation: JsonObject): JsonObject {
  const nested = annotation[String(annotation.type)];
  return isObject(nested) ? nested : annotation;
}

function endOf(annotation: JsonObject): number {
  const { end_index: end } = fieldsOf(annotation);
  return typeof end === 'number' ? end : Number.POSITIVE_INFINITY;
}

/**
 * Returns the citations beside the text: in Anthropic's form, or in Cohere's, whose sources with a web address are annotations
 * too.
 */
function sharedCitations(citation: JsonObject): JsonObject[] {
  return Array.isArray(citation.sources) ? citationsOfSources(citation) : [citation];
}

/** Returns the native blocks of a message, or their pieces in a delta. `key` is the index of the block. */
function piecesOf(blocks: unknown): JsonObject[] {
  return objectsIn(blocks).map((block) => (isObject(block.delta) ? { ...block.delta, key: block.index } : block));
}

function isTextAlone(from: JsonObject): from is JsonObject & { content: string } {
  for (const name in from) if (name !== 'content' && name !== 'role') return false;
  return typeof from.content === 'string';
}

function isReasoning(piece: JsonObject): boolean {
  if (piece.type === 'redacted_thinking') return true;
  return typeof piece.thinking === 'string' || typeof piece.signature === 'string';
}

/** Returns the text of a content; other parts of a list are reported. */
function spokenIn(content: unknown, call: OperationCall): string {
  if (typeof content === 'string') return content;
  const texts = objectsIn(content).map((part) => {
    if (typeof part.text === 'string') return part.text;
    dropFromReply(call, part.type);
    return '';
  });
  return texts.join('');
}

function tokensIn(logprobs: unknown): unknown[] {
  return isObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}
