import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { openBlock } from '../../formats/sealed-blocks.ts';
import { isServerToolItem } from '../../formats/server-tool-items.ts';
import { toItem } from './signed-reasoning.ts';

/** Converts chat messages to the items of a Responses call. Throws `bad_request` naming the message it cannot read. */
export function toInput(given: unknown, call: OperationCall): JsonObject[] {
  if (!Array.isArray(given)) throw badParam('messages', 'a list of messages is required');
  /** Calls of tools with free text. Their results are items of a type of their own. */
  const customCalls = new Set<unknown>();
  return given.flatMap((message, index) => {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw badParam(path, 'a message must be an object');
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return [{ role: message.role, content: inputContent(message.content, `${path}.content`) }];
      case 'assistant':
        return spokenItems(message, path, customCalls, call);
      case 'tool': {
        const type = customCalls.has(message.tool_call_id) ? 'custom_tool_call_output' : 'function_call_output';
        return [{ type, call_id: message.tool_call_id, output: inputContent(message.content, `${path}.content`) }];
      }
      default:
        throw badParam(`${path}.role`, 'system, developer, user, assistant or tool is expected');
    }
  });
}

/**
 * Reasoning and records of OpenAI's own tools come first, because the provider requires each before the items that it led to.
 * Text and calls follow.
 */
function spokenItems(message: JsonObject, path: string, customCalls: Set<unknown>, call: OperationCall): JsonObject[] {
  const items: JsonObject[] = [];
  for (const block of objectsIn(message.content_blocks).map(openBlock)) {
    if (block.type === 'text' || block.type === 'tool_use') continue;
    const item = isServerToolItem(block) ? block : call.withoutReasoning ? null : toItem(block);
    if (item !== null) items.push(item);
    else noteOnce(call.dropped, 'messages.content_blocks');
  }
  const content = spokenContent(message, path);
  if (content.length > 0) items.push({ role: 'assistant', content });
  for (const toolCall of objectsIn(message.tool_calls)) {
    const { id, function: fn, custom } = toolCall;
    if (isObject(custom)) {
      customCalls.add(id);
      items.push({ type: 'custom_tool_call', call_id: id, name: custom.name, input: custom.input });
    } else if (isObject(fn)) items.push({ type: 'function_call', call_id: id, name: fn.name, arguments: fn.arguments });
  }
  return items;
}

function spokenContent(message: JsonObject, path: string): JsonObject[] {
  const contentParts = partsOf(message.content, `${path}.content`);
  const refusal = textOrNull(message.refusal);
  const parts = contentParts.map((part) => (part.type === 'text' ? { type: 'output_text', text: part.text } : part));
  return refusal === null ? parts : [...parts, { type: 'refusal', refusal }];
}

function inputContent(content: unknown, path: string): unknown {
  return typeof content === 'string' ? content : partsOf(content, path).map(inputPart);
}

function partsOf(content: unknown, path: string): JsonObject[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.map((part, index) => {
    if (!isObject(part)) throw badParam(`${path}[${index}]`, 'a content part must be an object');
    return part;
  });
}

/** Parts of unknown types are passed, so clients can use parts of the Responses API. */
function inputPart(part: JsonObject): JsonObject {
  const { type, image_url: image, file } = part;
  if (type === 'text') return { type: 'input_text', text: part.text };
  if (type === 'image_url') {
    const { url, detail } = isObject(image) ? image : { url: image };
    return { type: 'input_image', image_url: url, detail: detail ?? 'auto' };
  }
  if (type === 'file' && isObject(file)) return { type: 'input_file', ...file, ...linkOf(file) };
  return part;
}

/** A web address instead of data is a URL that the provider fetches. */
function linkOf(file: JsonObject): JsonObject {
  const { file_data: data } = file;
  return typeof data === 'string' && /^https?:/.test(data) ? { file_data: undefined, file_url: data } : {};
}
