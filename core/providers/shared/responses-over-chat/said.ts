import { isObject, type JsonObject } from '../../../contract/json.ts';
import { reasoningText } from '../messages-over-chat-reply.ts';
import { objectsIn } from '../objects-in.ts';
import type { OutputItems } from './output-items.ts';

/**
 * Puts what a chat message or delta says into the output, in the order of its native blocks where it has such, and returns the
 * events that tell of it. A whole message and the deltas it is streamed in give the same output.
 */
export function addSaid(from: JsonObject, logprobs: unknown, items: OutputItems): JsonObject[] {
  const events: JsonObject[] = [];
  const toolCalls = objectsIn(from.tool_calls).map((toolCall, index) => ({ index, ...toolCall }) as JsonObject);
  const pieces = piecesOf(from.content_blocks);
  const texts = pieces.map((piece) => piece.text).filter((text) => typeof text === 'string');
  let { spoken, tokens } = { spoken: spokenIn(from.content), tokens: tokensIn(logprobs) };
  if (texts.length > 0 && spoken.endsWith(texts.join(''))) spoken = spoken.slice(0, spoken.length - texts.join('').length);
  /** Text without a native block: it comes after the thoughts, before everything else. */
  const speak = (text: string): void => {
    events.push(...items.text(text, tokens));
    if (text !== '') tokens = [];
  };
  const speakFirst = (): void => {
    speak(spoken);
    spoken = '';
  };

  if (!pieces.some(isThought)) {
    const thoughts = reasoningText(from);
    if (thoughts !== '') events.push(...items.thought('text', { thinking: thoughts }));
  }
  for (const [place, piece] of pieces.entries()) {
    if (isThought(piece)) events.push(...items.thought(piece.key ?? place, piece));
    else if (typeof piece.text === 'string') {
      speakFirst();
      speak(piece.text);
    } else if (piece.type === 'tool_use') {
      speakFirst();
      const at = toolCalls.findIndex((toolCall) => toolCall.id === piece.id);
      for (const toolCall of at === -1 ? [] : toolCalls.splice(at, 1)) events.push(...items.tool(toolCall));
    }
  }
  speakFirst();
  if (typeof from.refusal === 'string') events.push(...items.refusal(from.refusal));
  events.push(...items.annotations(objectsIn(from.annotations).map(annotationOf)));
  for (const toolCall of toolCalls) events.push(...items.tool(toolCall));
  for (const { image_url: image } of objectsIn(from.images)) {
    if (isObject(image) && typeof image.url === 'string') events.push(...items.image(image.url));
  }
  return events;
}

/** Native blocks of a message, or pieces of such in a delta, where `key` is the place of the block. */
function piecesOf(blocks: unknown): JsonObject[] {
  return objectsIn(blocks).map((block) => (isObject(block.delta) ? { ...block.delta, key: block.index } : block));
}

function isThought(piece: JsonObject): boolean {
  if (piece.type === 'redacted_thinking') return true;
  return typeof piece.thinking === 'string' || typeof piece.signature === 'string';
}

function spokenIn(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isObject).map((part) => part.text) : [content];
  return parts.filter((part) => typeof part === 'string').join('');
}

function tokensIn(logprobs: unknown): unknown[] {
  return isObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}

/** Chat completions nest what a citation says under its type. */
function annotationOf(annotation: JsonObject): JsonObject {
  const nested = annotation[String(annotation.type)];
  return isObject(nested) ? { type: annotation.type, ...nested } : annotation;
}
