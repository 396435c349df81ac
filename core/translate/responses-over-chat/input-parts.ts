import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';

/**
 * Converts the content of an input item (text, or a list of parts) to chat content parts. Parts of unknown types are passed, so
 * clients can use chat parts. Throws `bad_request` naming the part that cannot be carried over.
 */
export function chatParts(content: unknown, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.map((part, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(part)) throw badParam(at, 'a content part must be an object');
    return withHints(chatPart(part, at), part, call, understands);
  });
}

/** Uses plain text if there is only text: many compatible servers accept no list of parts for it. */
export function plainWherePossible(parts: readonly JsonObject[]): unknown {
  const plain = parts.every((part) => part.type === 'text' && Object.keys(part).length === 2);
  return plain ? parts.map((part) => part.text).join('\n') : parts;
}

function chatPart(part: JsonObject, path: string): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text };
    case 'input_image':
      return imagePart(part, path);
    case 'input_file':
      return { type: 'file', file: fileOf(part, path) };
    default:
      return part;
  }
}

function imagePart(part: JsonObject, path: string): JsonObject {
  if (typeof part.image_url !== 'string' || part.image_url === '') {
    throw badParam(`${path}.image_url`, 'a URL is expected; a stored image needs a provider with its own Responses API');
  }
  return { type: 'image_url', image_url: { url: part.image_url, ...(part.detail ? { detail: part.detail } : {}) } };
}

/** A web address is sent as the file's data, where adapters of providers that fetch URLs read it. */
function fileOf(part: JsonObject, path: string): JsonObject {
  const data = part.file_data ?? part.file_url;
  const filename = typeof part.filename === 'string' ? { filename: part.filename } : {};
  if (typeof data === 'string' && data !== '') return { ...filename, file_data: data };
  if (typeof part.file_id === 'string') return { ...filename, file_id: part.file_id };
  throw badParam(path, 'file_data, file_url or file_id is expected');
}

/** Caching hints, with Anthropic's name or OpenAI's, stay on parts only if the provider accepts them. */
function withHints(made: JsonObject, part: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  if (made === part) return part;
  let hinted = made;
  for (const name of ['cache_control', 'prompt_cache_breakpoint'] as const) {
    if (part[name] === undefined || part[name] === null) continue;
    if (understands.includes('cache_control')) hinted = { ...hinted, [name]: part[name] };
    else noteOnce(call.dropped, name);
  }
  return hinted;
}
