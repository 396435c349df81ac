import type { JsonObject } from '../../contract/json.ts';
import { isObject } from '../../contract/json.ts';

/**
 * Mistral's reasoning models answer with a list of parts, `{type: 'thinking', thinking: [{type: 'text', text}]}` and
 * `{type: 'text', text}`, where OpenAI clients expect text (https://docs.mistral.ai/capabilities/reasoning).
 */

/** A reply or chunk with the text in `content` and the thoughts in `reasoning_content`; lists with other parts stay as they are. */
export function withContentAsText(reply: JsonObject): JsonObject {
  const { choices } = reply;
  if (!Array.isArray(choices) || !choices.some((choice) => placeOf(choice) !== null)) return reply;
  return { ...reply, choices: choices.map(asText) };
}

/** A request whose assistant messages carry their `reasoning_content` the way Mistral takes it back. */
export function withThinkingParts(params: JsonObject): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some(hasReasoning)) return params;
  return { ...params, messages: messages.map((message) => (hasReasoning(message) ? asParts(message) : message)) };
}

/** Where a choice keeps a list of thinking and text parts. */
function placeOf(choice: unknown): 'message' | 'delta' | null {
  if (!isObject(choice)) return null;
  for (const place of ['message', 'delta'] as const) {
    const holder = choice[place];
    if (isObject(holder) && Array.isArray(holder.content) && holder.content.every(isKnownPart)) return place;
  }
  return null;
}

function asText(choice: JsonObject): JsonObject {
  const place = placeOf(choice);
  if (place === null) return choice;
  const holder = choice[place] as JsonObject & { content: JsonObject[] };
  const joined = (type: string): string =>
    holder.content.map((part) => (part.type === type ? textIn(type === 'thinking' ? part.thinking : part.text) : '')).join('');
  const thoughts = joined('thinking');
  const shaped = { ...holder, content: joined('text'), ...(thoughts === '' ? {} : { reasoning_content: thoughts }) };
  return { ...choice, [place]: shaped };
}

function isKnownPart(part: unknown): boolean {
  return isObject(part) && (part.type === 'text' || part.type === 'thinking');
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => (isObject(part) ? textIn(part.text) : '')).join('');
  return typeof value === 'string' ? value : '';
}

function hasReasoning(message: unknown): message is JsonObject & { reasoning_content: string } {
  return isObject(message) && message.role === 'assistant' && typeof message.reasoning_content === 'string';
}

function asParts(message: JsonObject & { reasoning_content: string }): JsonObject {
  const { reasoning_content: thoughts, content, ...rest } = message;
  const thinking = thoughts === '' ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }];
  const said = Array.isArray(content)
    ? content
    : typeof content === 'string' && content !== ''
      ? [{ type: 'text', text: content }]
      : [];
  const parts = [...thinking, ...said];
  return { ...rest, content: parts.length > 0 ? parts : content };
}
