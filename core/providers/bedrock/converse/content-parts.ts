import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { parseDataUrl } from '../../../formats/data-url.ts';
import { cachePoints } from './cache-points.ts';
import { documentFormat, imageFormat, mediaTypeOf, videoFormat } from './media-formats.ts';

/** Names the documents of one request. The provider accepts few characters and no name twice. */
export type NameDocument = (filename: unknown) => string;

export function documentNames(): NameDocument {
  const taken = new Set<string>();
  /** The next number of each name. A search from 2 for each document would take quadratic time. */
  const next = new Map<string, number>();
  return (filename) => {
    const base = typeof filename === 'string' ? filename.replace(/\.[a-z0-9]{1,5}$/i, '') : '';
    const plain = base
      .replace(/[^a-zA-Z0-9\s\-()[\]]+/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 180);
    const first = plain || 'document';
    let name = first;
    let count = next.get(first) ?? 2;
    for (; taken.has(name); count++) name = `${first} ${count}`;
    next.set(first, count);
    taken.add(name);
    return name;
  };
}

/**
 * Converts the content of a chat message (text, or a list of parts) to Converse content blocks. Blank texts are left out, because
 * the provider rejects them. Blocks of the provider itself (`guardContent`, `cachePoint`, …) are passed unchanged. Throws
 * `bad_request` naming the part that the provider cannot accept.
 */
export function contentBlocks(content: unknown, path: string, nameDocument: NameDocument, call: OperationCall): JsonObject[] {
  if (typeof content === 'string') return textBlocks(content);
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.flatMap((part, index) => {
    const at = `${path}[${index}]`;
    if (typeof part === 'string') return textBlocks(part);
    if (!isObject(part)) throw badParam(at, 'a content part must be an object');
    const blocks = partBlocks(part, at, nameDocument);
    return blocks.length === 0 ? [] : [...blocks, ...cachePoints(part, call)];
  });
}

/** Returns no block for blank text, which the provider rejects. */
export function textBlocks(text: unknown): JsonObject[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : [];
}

function partBlocks(part: JsonObject, path: string, nameDocument: NameDocument): JsonObject[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text);
    case 'refusal':
      return textBlocks(part.refusal);
    case 'image_url':
      return [imageBlock(part, path)];
    case 'input_audio':
      return [audioBlock(part, path)];
    case 'file':
      return [fileBlock(part, path, nameDocument)];
    case undefined:
      // Blocks of the provider itself have no type: `{guardContent: …}`, `{video: …}`.
      return [part];
    default:
      throw badParam(path, `parts of type ${String(part.type)} are not supported by bedrock`);
  }
}

function imageBlock(part: JsonObject, path: string): JsonObject {
  const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
  const at = `${path}.image_url`;
  if (typeof url !== 'string' || url === '') throw badParam(at, 'a URL is expected');
  if (url.startsWith('s3://')) return { image: { format: imageFormat(mediaTypeOf(url), at), source: stored(url) } };
  if (!url.startsWith('data:'))
    throw badParam(at, 'bedrock does not fetch images from the web. Send a data URL or an s3:// address');
  const { mediaType, base64 } = parseDataUrl(url, at);
  return { image: { format: imageFormat(mediaType, at), source: { bytes: base64 } } };
}

function audioBlock(part: JsonObject, path: string): JsonObject {
  const audio = isObject(part.input_audio) ? part.input_audio : {};
  if (typeof audio.data !== 'string') throw badParam(`${path}.input_audio.data`, 'base64 is expected');
  return { audio: { format: audio.format, source: { bytes: audio.data } } };
}

/** `file_data` is a data URL, an s3:// address, or bare base64. The file name determines the type of base64 (PDF without a name). */
function fileBlock(part: JsonObject, path: string, nameDocument: NameDocument): JsonObject {
  const file = isObject(part.file) ? part.file : {};
  const at = `${path}.file`;
  const data = file.file_data ?? file.file_id;
  if (typeof data !== 'string' || data === '') throw badParam(at, 'file_data is expected');
  if (/^https?:/.test(data)) throw badParam(at, 'bedrock does not fetch files from the web. Send a data URL or an s3:// address');
  if (data.startsWith('s3://')) return mediaBlock(mediaTypeOf(data), stored(data), file, at, nameDocument);
  if (data.startsWith('data:')) {
    const { mediaType, base64 } = parseDataUrl(data, `${at}.file_data`);
    return mediaBlock(mediaType, { bytes: base64 }, file, at, nameDocument);
  }
  if (file.file_data === undefined) throw badParam(`${at}.file_id`, 'only s3:// addresses are stored files to bedrock');
  return mediaBlock(mediaTypeOf(String(file.filename ?? '.pdf')), { bytes: data }, file, at, nameDocument);
}

function mediaBlock(type: string, source: JsonObject, file: JsonObject, path: string, nameDocument: NameDocument): JsonObject {
  if (type.startsWith('image/')) return { image: { format: imageFormat(type, path), source } };
  if (type.startsWith('video/')) return { video: { format: videoFormat(type, path), source } };
  return { document: { format: documentFormat(type, path), name: nameDocument(file.filename), source } };
}

function stored(uri: string): JsonObject {
  return { s3Location: { uri } };
}
