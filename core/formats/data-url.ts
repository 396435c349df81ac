import { badParam } from './bad-param.ts';

/**
 * Parses a data URL (RFC 2397) with base64. Throws `bad_request` that names `path` for other forms. `mediaType` is in lower case,
 * and `image/jpeg` for the common misspelling `image/jpg`, which Claude rejects.
 */
export function parseDataUrl(url: string, path: string): { mediaType: string; base64: string } {
  const comma = url.indexOf(',');
  const [mediaType = '', ...attributes] = url.slice('data:'.length, comma).split(';');
  if (comma < 0 || attributes.at(-1) !== 'base64')
    throw badParam(path, 'a data URL must be base64: data:<media type>;base64,<data>');
  const type = mediaType.toLowerCase();
  return { mediaType: type === 'image/jpg' ? 'image/jpeg' : type, base64: url.slice(comma + 1) };
}
