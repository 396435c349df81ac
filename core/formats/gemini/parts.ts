import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { noteOnce } from '../note-once.ts';
import { audioPart, filePart, imagePart } from './media.ts';

/**
 * Converts the content of a chat message (text, or a list of parts) to Gemini parts. Empty texts are left out, because Gemini
 * rejects them. Unknown parts are passed unchanged, so clients can use native parts (`inlineData`, `fileData`, …) in a chat call.
 * Throws `bad_request` naming the part it cannot read.
 */
export function contentParts(content: unknown, path: string, call: OperationCall): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.flatMap((part, index) => partsOf(part, `${path}[${index}]`, call));
}

function partsOf(part: unknown, path: string, call: OperationCall): JsonObject[] {
  if (typeof part === 'string') return part === '' ? [] : [{ text: part }];
  if (!isObject(part)) throw badParam(path, 'a content part must be an object');
  // Gemini caches automatically or by `cachedContent`. Its parts have no field for caching hints.
  if (part.cache_control || part.prompt_cache_breakpoint) noteOnce(call.dropped, 'cache_control');
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' && part.text !== '' ? [{ text: part.text }] : [];
    case 'refusal':
      return typeof part.refusal === 'string' && part.refusal !== '' ? [{ text: part.refusal }] : [];
    case 'image_url':
      return [imagePart(part, path)];
    case 'file':
      return [filePart(part, path)];
    case 'input_audio':
      return [audioPart(part, path)];
    default:
      return [part];
  }
}
