import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { urlCitation, webAddressIn } from '../../formats/openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../formats/reply-notes.ts';
import { changeMessages } from './change-messages.ts';

/**
 * Mistral's reasoning models return a list of parts, `{type: 'thinking', thinking: [{type: 'text', text}]}` and `{type: 'text',
 * text}`. OpenAI clients expect text (https://docs.mistral.ai/capabilities/reasoning).
 */

/**
 * Returns a reply or chunk with the text in `content` and the reasoning in `reasoning_content`. Sources with a web address become
 * annotations. Other parts (references to tool results) are in `content_blocks` without strict compliance, and reported with it.
 */
export function contentAsText(call: OperationCall): (reply: JsonObject) => JsonObject {
  let blocks = 0;
  const member = (part: JsonObject, isDelta: boolean): JsonObject => (isDelta ? { index: blocks++, delta: part } : part);

  const asText = (choice: unknown): unknown => {
    const at = memberOf(choice);
    if (at === null || !isObject(choice)) return choice;
    const { content, ...holder } = choice[at] as JsonObject & { content: unknown[] };
    let [text, reasoning] = ['', ''];
    const annotations: JsonObject[] = [];
    const others: JsonObject[] = [];
    for (const part of content) {
      if (!isObject(part)) text += typeof part === 'string' ? part : '';
      else if (part.type === 'text') text += textIn(part.text);
      else if (part.type === 'thinking') reasoning += textIn(part.thinking);
      else {
        const url = webAddressIn(part.url);
        if (url !== null) annotations.push(urlCitation(url, part.title, text.length, text.length));
        if (call.strict) (url === null ? dropFromReply : adaptInReply)(call, part.type);
        else others.push(member(part, at === 'delta'));
      }
    }
    const shaped = {
      ...holder,
      content: text,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(annotations.length > 0 ? { annotations } : {}),
      ...(others.length > 0 ? { content_blocks: others } : {}),
    };
    return { ...choice, [at]: shaped };
  };

  return (reply) => {
    const { choices } = reply;
    if (!Array.isArray(choices) || !choices.some((choice) => memberOf(choice) !== null)) return reply;
    return { ...reply, choices: choices.map(asText) };
  };
}

/** Returns a request with the `reasoning_content` of assistant messages in the form that Mistral accepts. */
export function withThinkingParts(params: JsonObject): JsonObject {
  return changeMessages(params, hasReasoning, asParts);
}

/** Returns the field of a choice whose content is a list of parts, or null. */
function memberOf(choice: unknown): 'message' | 'delta' | null {
  if (!isObject(choice)) return null;
  for (const member of ['message', 'delta'] as const) {
    const holder = choice[member];
    if (isObject(holder) && Array.isArray(holder.content)) return member;
  }
  return null;
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => (isObject(part) ? textIn(part.text) : '')).join('');
  return typeof value === 'string' ? value : '';
}

function hasReasoning(message: unknown): message is JsonObject & { reasoning_content: string } {
  return isObject(message) && message.role === 'assistant' && typeof message.reasoning_content === 'string';
}

function asParts(message: JsonObject & { reasoning_content: string }): JsonObject {
  const { reasoning_content: reasoning, content, ...rest } = message;
  const thinking = reasoning === '' ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text: reasoning }] }];
  const texts = Array.isArray(content)
    ? content
    : typeof content === 'string' && content !== ''
      ? [{ type: 'text', text: content }]
      : [];
  const parts = [...thinking, ...texts];
  return { ...rest, content: parts.length > 0 ? parts : content };
}
