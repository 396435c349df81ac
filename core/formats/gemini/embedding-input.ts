import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { rejectTokenIds } from '../openai/embedding-inputs.ts';
import { imagePart } from './media.ts';
import { contentParts } from './parts.ts';

/** One input of an embeddings call: a text, or an object for multimodal models. */
export type EmbeddingItem = string | JsonObject;

/**
 * Returns the inputs of an embeddings call. Beside texts there may be objects: `{content: [parts of a chat message]}`, or `{text,
 * image, video}` where image and video are `{url}` or `{base64}`. Throws `bad_request` for token numbers, which only OpenAI's own
 * models can read.
 */
export function embeddingItems(input: unknown, provider: string): EmbeddingItem[] {
  const items = Array.isArray(input) ? input : [input];
  rejectTokenIds(items, provider);
  if (items.length === 0 || !items.every((item) => typeof item === 'string' || isObject(item))) {
    throw badParam('input', `a text, an object with text, image or video, or a list of them is expected by ${provider}`);
  }
  return items;
}

/** Returns one item as the parts of a Gemini content. Throws `bad_request` naming the item it cannot read. */
export function embeddingParts(item: EmbeddingItem, path: string, call: OperationCall): JsonObject[] {
  if (typeof item === 'string') return [{ text: item }];
  if (item.content !== undefined) return contentParts(item.content, `${path}.content`, call);
  const parts: JsonObject[] = typeof item.text === 'string' && item.text !== '' ? [{ text: item.text }] : [];
  for (const [name, mediaType] of [
    ['image', 'image/png'],
    ['video', 'video/mp4'],
  ] as const) {
    if (item[name] === undefined || item[name] === null) continue;
    const url = mediaUrl(item[name], mediaType, `${path}.${name}`);
    parts.push(imagePart({ image_url: { url, ...(url.startsWith('data:') ? {} : typeFor(url, mediaType)) } }, `${path}.${name}`));
  }
  if (parts.length === 0) throw badParam(path, 'text, image, video or content is expected');
  return parts;
}

/** Returns the address or data URL of a medium given as `{url}`, `{base64}` or a text. */
export function mediaUrl(medium: unknown, mediaType: string, path: string): string {
  const given = isObject(medium) ? (medium.url ?? medium.base64) : medium;
  if (typeof given !== 'string' || given === '') throw badParam(path, 'url or base64 is expected');
  return /^[a-z][a-z0-9+.-]*:/i.test(given) ? given : `data:${mediaType};base64,${given}`;
}

/** Sets the media type for addresses whose file extension does not show it. */
function typeFor(url: string, mediaType: string): JsonObject {
  return /\.[a-z0-9]{2,4}(?:[?#]|$)/i.test(url) ? {} : { mime_type: mediaType };
}
