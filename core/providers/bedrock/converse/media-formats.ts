import { byName } from '../../../contract/values/json/by-name.ts';
import { badParam } from '../../../formats/bad-param.ts';

/** Formats of the Converse API (ImageFormat, VideoFormat, DocumentFormat) by media type. */
const images: Readonly<Record<string, string>> = byName({
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
});

const videos: Readonly<Record<string, string>> = byName({
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/webm': 'webm',
  'video/x-flv': 'flv',
  'video/mpeg': 'mpeg',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
});

const documents: Readonly<Record<string, string>> = byName({
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
});

/** File extensions that differ from the format's name. */
const endings: Readonly<Record<string, string>> = byName({
  jpg: 'jpeg',
  htm: 'html',
  markdown: 'md',
  '3gp': 'three_gp',
  mpg: 'mpeg',
});

/** Returns the provider's name of the format. Throws `bad_request` naming the path for an unknown media type. */
export function imageFormat(mediaType: string, path: string): string {
  return known(images, mediaType, path);
}

/** Returns the provider's name of the format. Throws `bad_request` naming the path for an unknown media type. */
export function videoFormat(mediaType: string, path: string): string {
  return known(videos, mediaType, path);
}

/** Returns the provider's name of the format. Unknown types of text are `txt`. Throws `bad_request` naming the path for other unknown types. */
export function documentFormat(mediaType: string, path: string): string {
  return mediaType.startsWith('text/') ? (documents[mediaType] ?? 'txt') : known(documents, mediaType, path);
}

/** Returns the media type for a file extension. Empty for an unknown one. */
export function mediaTypeOf(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const format = endings[ending] ?? ending;
  for (const table of [images, videos, documents]) {
    const found = Object.entries(table).find(([, value]) => value === format);
    if (found) return found[0];
  }
  return '';
}

function known(table: Readonly<Record<string, string>>, mediaType: string, path: string): string {
  const format = table[mediaType];
  if (format === undefined) throw badParam(path, `${mediaType || 'a file of this kind'} is not supported by bedrock`);
  return format;
}
