import { Buffer, isUtf8 } from 'node:buffer';
import type { JsonObject } from '../json/json.ts';
import { percentDecodedAnyway } from '../text/percent-decoded.ts';
import { textOf } from '../text/utf8.ts';

/** A file in JSON: a data URL, or base64. */
export interface EncodedFile {
  readonly bytes: Uint8Array;
  /** Its media type, if it states one. */
  readonly type: unknown;
  /** The data URL before its data. */
  readonly head: string;
  readonly isEncoded: boolean;
}

/** White space at both places is allowed: URL parsers remove it. */
const dataUrl = /^\s*data:([^,]*?)(;\s*base64\s*)?,/i;
const base64 = /^[\w+/=\s-]*$/;

/** Returns the file in a data URL; null for another text. `stated`: the type beside it, which counts if it is one of text. */
export function fileOfDataUrl(url: string, stated: unknown = null): EncodedFile | null {
  const [head, own, isBase64] = dataUrl.exec(url) ?? [];
  if (head === undefined) return null;
  const data = url.slice(head.length);
  const isEncoded = isBase64 !== undefined;
  const plain = data.includes('%') || !isEncoded ? percentDecodedAnyway(data) : data;
  const type = isTextType(stated) ? stated : own;
  return { bytes: isEncoded ? decoded(plain) : Buffer.from(plain), type, head, isEncoded };
}

/** Returns the file in base64; null for a text that is none. */
export function fileOfBase64(text: string, type: unknown): EncodedFile | null {
  return base64.test(text) ? { bytes: decoded(text), type, head: '', isEncoded: true } : null;
}

/** Reads behind padding too, where Node stops. Python leaves out padding that comes too early, and other programs continue behind padding. */
function decoded(base64: string): Uint8Array {
  const at = base64.indexOf('=');
  return at === -1 || /^[=\s]*$/.test(base64.slice(at)) ? Buffer.from(base64, 'base64') : decodedWhole(base64);
}

/** One pass with one buffer, because a text of 32 MiB may have padding behind each character. */
function decodedWhole(base64: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(base64.length);
  let length = 0;
  /** The bits that fill no byte yet, at the end of `value`. */
  let [value, bits] = [0, 0];
  /** Characters of the group of four, and the padding behind them. */
  let [inGroup, pads] = [0, 0];
  for (let i = 0; i < base64.length; i++) {
    const unit = base64.charCodeAt(i);
    const sextet = sextets[unit] ?? -1;
    if (sextet !== -1) {
      value = ((value << 6) | sextet) & 0xfff;
      bits += 6;
      inGroup = (inGroup + 1) % 4;
      pads = 0;
      if (bits < 8) continue;
      bits -= 8;
      bytes[length++] = value >> bits;
    } else if (unit === padding && inGroup >= 2 && inGroup + ++pads >= 4) bits = inGroup = pads = 0;
  }
  return bytes.subarray(0, length);
}

const padding = 0x3d;
/** The value of each character of both alphabets; -1 for others. */
const sextets = new Int8Array(128).fill(-1);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let i = 0; i < characters.length; i++) sextets[characters.charCodeAt(i)] = i;
}

/** True for words that could be base64. It may have line ends, but no program writes spaces into it. */
export function isWords(text: string): boolean {
  // Images have no space. The pattern alone needs 10 ms for 10 MB.
  return text.includes(' ') && /\S \S/.test(text);
}

/** Returns the value of a member that holds a file with another text. */
export function encodedText({ head, isEncoded }: EncodedFile, text: string): string {
  return head + (isEncoded ? Buffer.from(text).toString('base64') : encodeURIComponent(text));
}

/** Types that programs read as text. */
const textTypes = /^\s*(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript)\b)/i;

export function isTextType(type: unknown): boolean {
  return typeof type === 'string' && textTypes.test(type);
}

/** Returns the text of a file with this type, in UTF-8 or UTF-16. Null: it is no text. */
export function textOfFile(bytes: Uint8Array, type: unknown): string | null {
  const mark = bytes.length < 2 ? 0 : ((bytes[0] as number) << 8) | (bytes[1] as number);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : null;
  if (encoding === null && !isTextType(type) && !isUtf8(bytes)) return null;
  // Text in UTF-16 without a mark, or in UTF-32, has zeros beside each character of ASCII.
  return (encoding === null ? textOf(bytes) : new TextDecoder(encoding).decode(bytes)).replaceAll('\0', '');
}

const textNames = /\.(?:txt|md|markdown|csv|tsv|jsonl?|ndjson|ya?ml|xml|html?|tex|log)$/i;
const textFormats: ReadonlySet<unknown> = new Set(['txt', 'md', 'csv', 'html']);

/** True for the name of a file in text, whatever bytes it has. */
export function isTextName(name: unknown): boolean {
  return typeof name === 'string' && textNames.test(name);
}

/** Returns the type of the file that an object describes: that of text if its name or its format, as in Bedrock's Converse API, is one of text. */
export function statedType(holder: JsonObject): unknown {
  const names = [holder.filename, holder.file_name, holder.displayName, holder.display_name, holder.name, holder.title];
  if (textFormats.has(holder.format) || names.some(isTextName)) return 'text/plain';
  return holder.media_type ?? holder.mediaType ?? holder.mimeType ?? holder.mime_type;
}
