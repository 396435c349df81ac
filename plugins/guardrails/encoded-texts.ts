import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { percentDecodedAnyway } from '../../core/contract/values/text/percent-decoded.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { depthMax, tooDeep } from './depth.ts';
import type { TextPart } from './every-text.ts';

/** Members that hold a file: as a data URL, or as base64. */
const fileKeys: ReadonlySet<string> = new Set([
  ...['file_data', 'data', 'blob', 'bytes', 'url', 'image_url', 'document_url', 'video_url', 'audio_url', 'file_url'],
]);
/** Members among them with base64 that is no data URL. `bytes` is that of Bedrock's Converse API. */
const plainKeys: ReadonlySet<string> = new Set(['file_data', 'data', 'blob', 'bytes']);
/** Types that providers read as text. */
const textTypes = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript)\b)/i;
const dataUrl = /^data:([^,]*?)(;base64)?,/i;
const base64 = /^[\w+/=\s-]*$/;
/** A data URL in base64 and nothing behind it. */
const wholeDataUrl = /^data:[^,\s]*;base64,[\w+/=-]*$/i;
/** Base64 may have line ends, but no program writes spaces into it. */
const severalWords = /\S \S/;

/**
 * Adds the texts of the files in a part of content, such as a document in plain text. Texts of other members are not read. Throws Error for a value
 * that is nested too deeply to be read.
 */
export function fileTexts(value: unknown, path: TextPart['path'], parts: TextPart[]): void {
  if (!isObject(value)) return;
  if (path.length > depthMax) throw tooDeep();
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'string') fileText(value, key, path, parts);
    else fileTexts(item, [...path, key], parts);
  }
}

/** Adds the text of one member if it is a file in text, by its type or because its bytes are UTF-8, or if it is no base64. */
export function fileText(holder: JsonObject, key: string, path: TextPart['path'], parts: TextPart[]): void {
  const file = bytesOfFile(holder, key);
  if (file === null) {
    const value = holder[key];
    // The source of a document in plain text is read as it is.
    const isText = typeof value === 'string' && plainKeys.has(key) && holder.type !== 'text' && !dataUrl.test(value);
    if (isText && !base64.test(value)) parts.push({ text: value, path: [...path, key] });
    return;
  }
  const part = partOfFile(file, [...path, key]);
  const value = holder[key] as string;
  if (part !== null) parts.push(part);
  else if (file.head === '' && severalWords.test(value)) parts.push({ text: value, path: [...path, key] });
}

function partOfFile({ bytes, type, head, isEncoded }: EncodedFile, path: TextPart['path']): TextPart | null {
  const text = textOfFile(bytes, type);
  if (text === null) return null;
  const encoded = (text: string) => head + (isEncoded ? Buffer.from(text).toString('base64') : encodeURIComponent(text));
  return { text, path, encoded };
}

/** Returns the text of a file in text that is a data URL, as some servers take files in any member; null for every other text. */
export function dataUrlText(value: string, path: TextPart['path']): TextPart | null {
  const file = dataUrlFile(value);
  return file && partOfFile(file, path);
}

/** Returns the file that a text is as a whole; null if it is no data URL in base64. */
export function dataUrlFile(value: string): EncodedFile | null {
  return wholeDataUrl.test(value) ? bytesOfFile({ data: value }, 'data') : null;
}

/** A file in a member: a data URL, or base64. */
interface EncodedFile {
  readonly bytes: Uint8Array;
  /** Its media type, if it states one. */
  readonly type: unknown;
  /** The data URL before its data. */
  readonly head: string;
  readonly isEncoded: boolean;
}

/** Returns the file that a member holds; null if it holds none: an address, a text or nothing. */
export function bytesOfFile(holder: JsonObject, key: string): EncodedFile | null {
  const value = holder[key];
  if (typeof value !== 'string' || value === '' || !fileKeys.has(key)) return null;
  const [head = '', type, isBase64] = dataUrl.exec(value) ?? [];
  // Text as it is: the source of a document in plain text.
  if (head === '' && (!plainKeys.has(key) || holder.type === 'text' || !base64.test(value))) return null;
  const isEncoded = head === '' || isBase64 !== undefined;
  const rest = value.slice(head.length);
  const bytes = isEncoded ? Buffer.from(rest, 'base64') : Buffer.from(percentDecodedAnyway(rest));
  return { bytes, type: type ?? holder.media_type ?? holder.mimeType ?? holder.mime_type, head, isEncoded };
}

/** Returns the text of a file with this type, in UTF-8 or UTF-16. Null: it is no text. */
export function textOfFile(bytes: Uint8Array, type: unknown): string | null {
  const mark = bytes.length < 2 ? 0 : ((bytes[0] as number) << 8) | (bytes[1] as number);
  if (mark === 0xfffe || mark === 0xfeff) return new TextDecoder(mark === 0xfffe ? 'utf-16le' : 'utf-16be').decode(bytes);
  if (!(typeof type === 'string' && textTypes.test(type)) && !isUtf8(bytes)) return null;
  // Text in UTF-16 without a mark has a zero beside each character of ASCII.
  return textOf(bytes).replaceAll('\0', '');
}
