import type { OperationCall } from '../contract/provider/provider.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../contract/values/json/json.ts';
import { citationsOfSources } from '../formats/document-citations.ts';
import { adaptInReply, dropFromReply, dropUnread } from '../formats/reply-notes.ts';
import { SpokenText } from './spoken-text.ts';
import { toolInput } from './tool-input.ts';

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

/** Fields of a message or delta that are read here or do not concern the content. */
const readFields: ReadonlySet<string> = new Set([
  ...['role', 'index', 'content', 'refusal', 'tool_calls', 'reasoning_content', 'reasoning', 'content_blocks', 'annotations'],
  // Signatures of Gemini, which are in thinking blocks too.
  ...['images', 'citations', 'extra_content'],
]);

const knownTypes: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

/** A native block of an unknown type. More pieces of it may follow. */
interface OpenBlock {
  readonly key: unknown;
  readonly block: JsonObject;
  /** JSON text of its input so far. */
  input: string;
}

/** An annotation, its place among those of the message, and the offset at which its text ends. */
interface Waiting {
  readonly annotation: JsonObject;
  readonly place: number;
  readonly end: number;
}

/** The tool calls of a message that were not sent. */
class ToolCalls {
  readonly all: Set<JsonObject>;
  /** Calls by id, the first one last. */
  #byId: Map<unknown, JsonObject[]> | null = null;

  constructor(given: unknown) {
    this.all = new Set(objectsIn(given).map((toolCall, index) => ({ index, ...toolCall })));
  }

  /** Removes the first call with this id. */
  take(id: unknown): JsonObject | undefined {
    this.#byId ??= Map.groupBy([...this.all].reverse(), (toolCall) => toolCall.id);
    const taken = this.#byId.get(id)?.pop();
    if (taken !== undefined) this.all.delete(taken);
    return taken;
  }
}

/**
 * Converts the content of chat messages and deltas to a reply of another format, in the order of the provider's native blocks if
 * it has any. A whole message has the same result as its deltas. Reports all content without an equivalent, including unknown fields
 * and blocks.
 */
export class ChatMessageReader {
  readonly #to: MessageSink;
  readonly #call: OperationCall;
  /** All text so far. Offsets of annotations refer to it. */
  readonly #text = new SpokenText();
  /** Text of the current message or delta that is in none of its blocks, until it is sent. */
  #outsideBlocks = '';
  /** Log probabilities of the current message or delta. Its first text carries them. */
  #tokens: readonly unknown[] = [];
  /** Annotations of text that has not arrived. The next one is the last. */
  #waiting: Waiting[] = [];
  #open: OpenBlock | null = null;
  /** Calls of custom tools whose input is sent as the argument of a function. */
  readonly #customs = new Set<unknown>();

  constructor(to: MessageSink, call: OperationCall) {
    this.#to = to;
    this.#call = call;
  }

  /** Returns the events of a message or delta. */
  add(from: JsonObject, logprobs: unknown): JsonObject[] {
    // Fast path for nearly all deltas. Without it they take half as long again.
    if (this.#open === null && this.#waiting.length === 0 && isTextAlone(from))
      return this.#speak(from.content, tokensIn(logprobs), undefined);
    const events: JsonObject[] = [];
    const toolCalls = new ToolCalls(from.tool_calls);
    const pieces = piecesOf(from.content_blocks);
    this.#outsideBlocks = withoutTextOf(pieces, spokenIn(from.content, this.#call));
    this.#tokens = tokensIn(logprobs);
    this.#waiting = objectsIn(from.annotations)
      .map((annotation, place) => ({ annotation, place, end: endOf(annotation) }))
      .sort((a, b) => (a.end === b.end ? b.place - a.place : b.end - a.end));
    const reasoning = pieces.some(isReasoning) ? '' : reasoningText(from);
    if (reasoning !== '') events.push(...this.#closeNative(), ...this.#to.reasoningPart('text', { thinking: reasoning }));
    for (const [position, piece] of pieces.entries()) this.#addPiece(piece.key ?? position, piece, toolCalls, events);
    this.#addOutsideBlocks(from, toolCalls, events);
    dropUnread(from, readFields, this.#call);
    return events;
  }

  /** Returns the last events, at the end of the reply. */
  finish(): JsonObject[] {
    const events = this.#closeNative();
    for (const key of this.#customs) events.push(...this.#to.tool({ index: key, function: { arguments: '"}' } }));
    return events;
  }

  /** Adds the events of one block or a piece of it. Removes the tool call that it repeats from `toolCalls`. */
  #addPiece(key: unknown, piece: JsonObject, toolCalls: ToolCalls, events: JsonObject[]): void {
    if (this.#takeNative(key, piece, events)) return;
    if (isReasoning(piece)) events.push(...this.#to.reasoningPart(key, piece));
    else if (typeof piece.text === 'string') {
      this.#say(this.#outsideBlocks, undefined, events);
      this.#outsideBlocks = '';
      this.#say(piece.text, key, events);
    } else if (piece.type === 'tool_use') {
      this.#say(this.#outsideBlocks, undefined, events);
      this.#outsideBlocks = '';
      this.#annotate(false, events);
      const toolCall = toolCalls.take(piece.id);
      if (toolCall !== undefined) events.push(...this.#tool(toolCall));
    }
    const citations = isObject(piece.citation) ? [piece.citation] : objectsIn(piece.citations);
    for (const citation of citations) events.push(...this.#to.citation(citation, key));
    this.#annotate(false, events);
  }

  /** Adds the events of the content that no block has. */
  #addOutsideBlocks(from: JsonObject, toolCalls: ToolCalls, events: JsonObject[]): void {
    const images = objectsIn(from.images);
    const isFollowed = this.#outsideBlocks !== '' || isText(from.refusal) || toolCalls.all.size > 0 || images.length > 0;
    if (isFollowed) events.push(...this.#closeNative());
    this.#say(this.#outsideBlocks, undefined, events);
    this.#outsideBlocks = '';
    if (typeof from.refusal === 'string' && from.refusal !== '') events.push(...this.#to.refusal(from.refusal));
    this.#annotate(true, events);
    for (const toolCall of toolCalls.all) events.push(...this.#tool(toolCall));
    for (const image of images) events.push(...this.#to.image(image));
    for (const citation of objectsIn(from.citations).flatMap(sharedCitations))
      events.push(...this.#to.citation(citation, undefined));
  }

  #say(text: string, key: unknown, events: JsonObject[]): void {
    events.push(...this.#speak(text, this.#tokens, key));
    if (text !== '') this.#tokens = [];
  }

  #speak(text: string, tokens: readonly unknown[], key: unknown): JsonObject[] {
    if (text === '') return [];
    this.#text.push(text);
    return this.#to.text(text, tokens, key);
  }

  /** Sends the annotations whose text has arrived, or all. */
  #annotate(all: boolean, events: JsonObject[]): void {
    const due: Waiting[] = [];
    for (let next = this.#waiting.at(-1); next && (all || next.end <= this.#text.length); next = this.#waiting.at(-1)) {
      due.push(next);
      this.#waiting.pop();
    }
    for (const { annotation } of due.sort((a, b) => a.place - b.place))
      events.push(...this.#to.annotation(annotation, this.#citedBy(annotation)));
  }

  #citedBy(annotation: JsonObject): string {
    const { start_index: start, end_index: end } = fieldsOf(annotation);
    return typeof start === 'number' && typeof end === 'number' ? this.#text.cited(start, end) : '';
  }

  /** True if the piece belongs to an unknown kind of block. */
  #takeNative(key: unknown, piece: JsonObject, events: JsonObject[]): boolean {
    if (this.#open !== null && key === this.#open.key && piece.type === undefined) {
      const { partial_json: input, key: _, ...more } = piece;
      if (typeof input === 'string') this.#open.input += input;
      Object.assign(this.#open.block, more);
      return true;
    }
    events.push(...this.#closeNative());
    if (typeof piece.type !== 'string' || knownTypes.has(piece.type)) return false;
    const { key: _, ...block } = piece;
    this.#open = { key, block, input: '' };
    return true;
  }

  #closeNative(): JsonObject[] {
    if (this.#open === null) return [];
    const { block, input } = this.#open;
    this.#open = null;
    return this.#to.native(input === '' ? block : { ...block, input: toolInput(input) });
  }

  /** Sends a call of a custom tool as a call of a function with one argument, if the reply has no custom tools. */
  #tool(toolCall: JsonObject): JsonObject[] {
    const { custom, function: fn, ...others } = toolCall;
    // Some servers send arguments as an object.
    if (isObject(fn) && isObject(fn.arguments))
      return this.#to.tool({ ...others, function: { ...fn, arguments: JSON.stringify(fn.arguments) } });
    if (!isObject(custom) || this.#to.hasCustomTools) return this.#to.tool(toolCall);
    adaptInReply(this.#call, 'custom_tool_call');
    const key = toolCall.index ?? toolCall.id;
    const opening = this.#customs.has(key) ? '' : '{"input":"';
    this.#customs.add(key);
    const piece = opening + JSON.stringify(String(custom.input ?? '')).slice(1, -1);
    return this.#to.tool({ ...others, function: { name: custom.name, arguments: piece } });
  }
}

/** Returns the reasoning text in a message or delta, from `reasoning_content` or `reasoning`. */
function reasoningText(from: JsonObject): string {
  const { reasoning_content: content, reasoning } = from;
  if (typeof content === 'string') return content;
  return typeof reasoning === 'string' ? reasoning : '';
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

/** Returns a text without the text of these blocks at its end. Text that has no block, such as a plan for tool calls, comes before those that have. */
function withoutTextOf(pieces: readonly JsonObject[], text: string): string {
  const ofBlocks = pieces.map((piece) => (typeof piece.text === 'string' ? piece.text : '')).join('');
  return ofBlocks !== '' && text.endsWith(ofBlocks) ? text.slice(0, text.length - ofBlocks.length) : text;
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
