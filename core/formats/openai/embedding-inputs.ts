import { isObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';

/** One input: a text, an image, or a text with an image. At least one of the two is set. */
export interface EmbeddingInput {
  readonly text: string | null;
  /** A data URL, or an unchanged web address. */
  readonly image: string | null;
}

/**
 * Reads the inputs of an embeddings call. Texts have OpenAI's form. Images are content parts (`{type: "image_url", image_url}`)
 * or `{image}` (a data URL, base64, an address, or `{base64}`/`{url}`); `{text, image}` and `{content: [parts]}` combine them
 * with a text. Throws `bad_request` for anything else, including token numbers, which only OpenAI's own models can read.
 */
export function embeddingInputs(input: unknown, provider: string): EmbeddingInput[] {
  const items = Array.isArray(input) ? input : [input];
  if (items.length === 0) throw badParam('input', `a text or a list of texts is expected by ${provider}`);
  rejectTokenIds(items, provider);
  return items.map((item) => inputOf(item, provider));
}

/** Throws `bad_request` for token ids. LangChain's client for OpenAI sends them by default. */
export function rejectTokenIds(items: readonly unknown[], provider: string): void {
  if (!items.some((item) => typeof item === 'number' || (Array.isArray(item) && typeof item[0] === 'number'))) return;
  const fix = 'Send texts (LangChain: check_embedding_ctx_length=False)';
  throw badParam('input', `${provider} cannot read token ids, which only OpenAI's models have. ${fix}`);
}

/** Returns an image that is part of the request. Throws `bad_request` for a web address. */
export function inlineImage(image: string, provider: string): { readonly format: string; readonly base64: string } {
  const found = /^data:image\/([\w.+-]+);base64,/.exec(image);
  if (!found) throw badParam('input', `${provider} takes images only as base64 or data URL`);
  return { format: found[1] as string, base64: image.slice(found[0].length) };
}

function inputOf(item: unknown, provider: string): EmbeddingInput {
  if (typeof item === 'string') return { text: item, image: null };
  const parts: unknown[] = isObject(item) && Array.isArray(item.content) ? item.content : [item];
  let [text, image]: [string | null, string | null] = [null, null];
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part.text === 'string') text = text === null ? part.text : `${text}\n${part.text}`;
    image ??= imageOf(part.image_url ?? part.image);
  }
  if (text === null && image === null)
    throw badParam('input', `texts, or objects with text or image, are expected by ${provider}`);
  return { text, image };
}

function imageOf(given: unknown): string | null {
  const text = isObject(given) ? (given.url ?? given.base64) : given;
  if (typeof text !== 'string' || text === '') return null;
  if (/^(data|https?|s3):/i.test(text)) return text;
  // Base64 of a JPEG begins with these characters. The other formats can be sent as PNG.
  return `data:image/${text.startsWith('/9j/') ? 'jpeg' : 'png'};base64,${text}`;
}
