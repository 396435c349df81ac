import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, textOrNull } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { parseDataUrl } from '../data-url.ts';
import { providerFileId } from '../provider-file-id.ts';

/** Media types by file extension. Gemini requires the type of everything that it fetches. */
const mediaTypes: Readonly<Record<string, string>> = byName({
  ...{ jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', gif: 'image/gif', heic: 'image/heic' },
  ...{ mp4: 'video/mp4', mov: 'video/mov', webm: 'video/webm', mpeg: 'video/mpeg', avi: 'video/avi' },
  ...{ mp3: 'audio/mp3', wav: 'audio/wav', flac: 'audio/flac', ogg: 'audio/ogg', aac: 'audio/aac', m4a: 'audio/m4a' },
  ...{ mpga: 'audio/mpeg', oga: 'audio/ogg', opus: 'audio/ogg' },
  ...{ pdf: 'application/pdf', txt: 'text/plain', md: 'text/md', csv: 'text/csv', html: 'text/html', json: 'application/json' },
});

/** Converts an `image_url` part of a chat message. Data URLs are sent inside the call. Google fetches other addresses. */
export function imagePart(part: JsonObject, path: string): JsonObject {
  const image = isObject(part.image_url) ? part.image_url : { url: part.image_url };
  if (typeof image.url !== 'string' || image.url === '') throw badParam(`${path}.image_url`, 'a URL is expected');
  const stated = textOrNull(image.mime_type) ?? textOrNull(part.mime_type);
  return mediaPart(image.url, stated, 'image/jpeg', `${path}.image_url`);
}

/**
 * Converts a `file` part. `file_data` is a data URL, a web or storage address, or base64. `file_id` is the address in Google's
 * own file store.
 */
export function filePart(part: JsonObject, path: string): JsonObject {
  const file = isObject(part.file) ? part.file : {};
  const stated = textOrNull(file.mime_type) ?? typeOf(textOrNull(file.filename) ?? '');
  const id = textOrNull(file.file_id);
  if (id !== null) return fileData(providerFileId(id, path), stated ?? typeOf(id) ?? 'application/pdf');
  const data = textOrNull(file.file_data) ?? textOrNull(file.file_url);
  if (data === null) throw badParam(`${path}.file`, 'file_data or file_id is expected');
  if (/^[a-z][a-z0-9+.-]*:/i.test(data)) return mediaPart(data, stated, 'application/pdf', `${path}.file.file_data`);
  return { inlineData: { mimeType: stated ?? 'application/pdf', data } };
}

/** Converts an `input_audio` part. */
export function audioPart(part: JsonObject, path: string): JsonObject {
  const audio = isObject(part.input_audio) ? part.input_audio : {};
  if (typeof audio.data !== 'string') throw badParam(`${path}.input_audio.data`, 'base64 is expected');
  const format = textOrNull(audio.format) ?? 'wav';
  const known = mediaTypes[format];
  return { inlineData: { mimeType: known?.startsWith('audio/') ? known : `audio/${format}`, data: audio.data } };
}

/**
 * Returns the media type of a recording from what the client states, else from the file name. Clients derive `video/webm` from the
 * name of a recording of a browser. Gemini finds no speech in such a file, without an error, unless it is called audio. A type that
 * names its codecs is that of the recorder, and Gemini rejects the codecs.
 */
export function recordingTypeOf(stated: string | null, filename: string): string {
  const [type, ...parameters] = (stated ?? '').split(';').map((part) => part.trim());
  const codecs = parameters.filter((part) => part.startsWith('codecs='));
  const plain = [type, ...parameters.filter((part) => !codecs.includes(part))].join(';');
  const found = /^(?:audio|video)\//.test(plain) ? plain : (typeOf(filename) ?? 'audio/wav');
  return found === 'video/webm' && codecs.length === 0 ? 'audio/webm' : found;
}

/** Returns inline data of a reply as a data URL (RFC 2397). */
export function dataUrlOf(inlineData: JsonObject): string {
  return `data:${String(inlineData.mimeType ?? 'application/octet-stream')};base64,${String(inlineData.data ?? '')}`;
}

function mediaPart(url: string, stated: string | null, otherwise: string, path: string): JsonObject {
  if (!url.startsWith('data:')) return fileData(url, stated ?? typeOf(url) ?? otherwise);
  const { mediaType, base64 } = parseDataUrl(url, path);
  return { inlineData: { mimeType: mediaType || otherwise, data: base64 } };
}

function fileData(fileUri: string, mimeType: string): JsonObject {
  return { fileData: { mimeType, fileUri } };
}

/** Returns the media type for the extension of a file name or address; null if the extension is missing or unknown. */
function typeOf(name: string): string | null {
  const ending = /\.([a-z0-9]{2,4})(?:[?#]|$)/i.exec(name)?.[1];
  return ending === undefined ? null : (mediaTypes[ending.toLowerCase()] ?? null);
}
