import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { parseDataUrl } from '../data-url.ts';
import { providerFileId } from '../provider-file-id.ts';

/**
 * Converts the content of a chat message (text, or a list of parts) to Messages content blocks. Blank texts are left out, because
 * the provider refuses them. Unknown parts are passed unchanged, so clients can use native blocks in a chat call. Throws
 * `bad_request` naming the part that the provider cannot read (audio).
 */
export function contentBlocks(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return textBlocks(content);
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.flatMap((part, index) => partBlocks(part, `${path}[${index}]`));
}

/** Returns `block` with the caching hint of the part or message it was made from, if there is one. */
export function withCacheControl(block: JsonObject, from: JsonObject): JsonObject {
  const hint = cacheControlOf(from);
  return hint === undefined ? block : { ...block, cache_control: hint };
}

/** Returns `cache_control` unchanged, or the equivalent of OpenAI's `prompt_cache_breakpoint`. */
export function cacheControlOf(from: JsonObject): unknown {
  if (from.cache_control !== undefined) return from.cache_control;
  return isObject(from.prompt_cache_breakpoint) ? { type: 'ephemeral' } : undefined;
}

function partBlocks(part: unknown, path: string): JsonObject[] {
  if (typeof part === 'string') return textBlocks(part);
  if (!isObject(part)) throw badParam(path, 'a content part must be an object');
  switch (part.type) {
    case 'text': {
      const { prompt_cache_breakpoint: _, ...block } = part;
      return isBlank(part.text) ? [] : [withCacheControl(block, part)];
    }
    case 'refusal':
      return typeof part.refusal === 'string' ? textBlocks(part.refusal) : [];
    case 'image_url':
      return [withCacheControl(imageBlock(part, path), part)];
    case 'file':
      return [withCacheControl(fileBlock(part, path), part)];
    case 'input_audio':
      throw badParam(path, 'audio input is not supported by anthropic');
    default:
      return [part];
  }
}

export function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === '';
}

function textBlocks(text: string): JsonObject[] {
  return isBlank(text) ? [] : [{ type: 'text', text }];
}

function imageBlock(part: JsonObject, path: string): JsonObject {
  const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
  if (typeof url !== 'string' || url === '') throw badParam(`${path}.image_url`, 'a URL is expected');
  if (!url.startsWith('data:')) return { type: 'image', source: { type: 'url', url } };
  const { mediaType, base64 } = parseDataUrl(url, `${path}.image_url`);
  return dataBlock(mediaType, base64);
}

/** `file_id` must exist in the provider's own file store. `file_data` is a data URL, a web address, or the base64 of a PDF. */
function fileBlock(part: JsonObject, path: string): JsonObject {
  const file = isObject(part.file) ? part.file : {};
  const title = typeof file.filename === 'string' ? { title: file.filename } : {};
  if (typeof file.file_id === 'string')
    return { type: 'document', source: { type: 'file', file_id: providerFileId(file.file_id, path) }, ...title };
  const text = file.file_data;
  if (typeof text !== 'string' || text === '') throw badParam(`${path}.file`, 'file_data or file_id is expected');
  if (/^https?:/.test(text)) return { type: 'document', source: { type: 'url', url: text }, ...title };
  const { mediaType, base64 } = text.startsWith('data:')
    ? parseDataUrl(text, `${path}.file.file_data`)
    : { mediaType: 'application/pdf', base64: text };
  const block = dataBlock(mediaType, base64);
  return block.type === 'document' ? { ...block, ...title } : block;
}

function dataBlock(mediaType: string, base64: string): JsonObject {
  if (mediaType.startsWith('image/')) return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } };
  if (mediaType.startsWith('text/')) {
    const text = Buffer.from(base64, 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } };
  }
  return { type: 'document', source: { type: 'base64', media_type: mediaType, data: base64 } };
}
