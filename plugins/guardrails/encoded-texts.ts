import {
  type EncodedFile,
  encodedText,
  fileOfBase64,
  fileOfDataUrl,
  isTextType,
  isWords,
  statedType,
  textOfFile,
} from '../../core/contract/values/bodies/encoded-file.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from './depth.ts';
import type { TextPart } from './every-text.ts';

/** Members that hold a file: as a data URL, or as base64. */
const fileKeys: ReadonlySet<string> = new Set([
  ...['file_data', 'data', 'blob', 'bytes', 'url', 'image_url', 'document_url', 'video_url', 'audio_url', 'file_url'],
]);
/** Members among them with base64 that is no data URL. `bytes` is that of Bedrock's Converse API. */
const plainKeys: ReadonlySet<string> = new Set(['file_data', 'data', 'blob', 'bytes']);
/** A data URL in base64 and nothing behind it. */
const wholeDataUrl = /^\s*data:[^,\s]*;\s*base64\s*,[\w+/=%-]*\s*$/i;

/**
 * Adds the texts of the files in a part of content, such as a document in plain text. Texts of other members are not read. Throws Error for a value
 * that is nested too deeply to be read.
 */
export function fileTexts(value: unknown, path: TextPart['path'], parts: TextPart[]): void {
  if (!isObject(value)) return;
  if (path.length > depthMax) throw tooDeep();
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'string') fileText(value, key, path, parts);
    else fileTexts(withType(value, key, item), [...path, key], parts);
  }
}

/** Returns the source of a document, with the type of text if the document states that its file is one. */
export function withType(holder: JsonObject, key: string, item: unknown): unknown {
  if (key !== 'source' || !isObject(item)) return item;
  return isTextType(statedType(holder)) && !isTextType(statedType(item)) ? { ...item, media_type: 'text/plain' } : item;
}

/** Adds the text of one member if it is a file in text, by its name, its type or because its bytes are UTF-8, or if it is no base64. */
export function fileText(holder: JsonObject, key: string, path: TextPart['path'], parts: TextPart[]): void {
  const value = holder[key];
  const at = [...path, key];
  const file = bytesOfFile(holder, key);
  const part = file && partOfFile(file, at);
  if (part !== null) parts.push(part);
  // The source of a document in plain text is read as it is.
  if (typeof value !== 'string' || !plainKeys.has(key) || holder.type === 'text') return;
  if (file === null) addBoth(value, statedType(holder), at, parts);
  else if (file.head === '' && isWords(value)) parts.push({ text: value, path: at });
}

/** Adds a text in place of base64 as it is, and as decoders read it that leave out what is no base64. */
function addBoth(text: string, type: unknown, path: TextPart['path'], parts: TextPart[]): void {
  if (isTextType(type)) {
    const part = partOfFile({ bytes: Buffer.from(text, 'base64'), type, head: '', isEncoded: true }, path);
    if (part !== null) parts.push(part);
  }
  parts.push({ text, path });
}

function partOfFile(file: EncodedFile, path: TextPart['path']): TextPart | null {
  const text = textOfFile(file.bytes, file.type);
  return text === null ? null : { text, path, encoded: (next) => encodedText(file, next) };
}

/** Returns the text of a file in text that is a data URL, as some servers take files in any member; null for every other text. */
export function dataUrlText(value: string, path: TextPart['path']): TextPart | null {
  const file = dataUrlFile(value);
  return file && partOfFile(file, path);
}

/** Returns the file that a text is as a whole; null if it is no data URL in base64. */
export function dataUrlFile(value: string): EncodedFile | null {
  return wholeDataUrl.test(value) ? fileOfDataUrl(value) : null;
}

/** Returns the file that a member holds; null if it holds none: an address, a text or nothing. */
export function bytesOfFile(holder: JsonObject, key: string): EncodedFile | null {
  const value = holder[key];
  if (typeof value !== 'string' || value === '' || !fileKeys.has(key)) return null;
  const stated = statedType(holder);
  const file = fileOfDataUrl(value, stated);
  // Text as it is: the source of a document in plain text.
  return file === null && plainKeys.has(key) && holder.type !== 'text' ? fileOfBase64(value, stated) : file;
}
