import { isObject, type JsonObject } from '../json/json.ts';

const depthMax = 32;

/** Parameters that hold text for the model. */
const promptKeys = ['system', 'instructions', 'messages', 'prompt', 'input', 'tools'] as const;

/** Members whose strings are images, audio or files. */
const attachmentKeys: ReadonlySet<string> = new Set(['data', 'url', 'image_url', 'file_data', 'b64_json']);

/** Fields that are names, ids or data, not text for a model. */
const notText: ReadonlySet<string> = new Set([
  ...attachmentKeys,
  ...['id', 'type', 'role', 'object', 'model', 'signature', 'finish_reason', 'status'],
]);

/** Maximum number of tokens that an image, audio or file counts as. */
export const attachmentTokens = 1_000;

/** Returns true if the string of a member is an image, audio or file. `holder` is the object that has the member; null: unknown. */
export function isAttachment(name: string, text: string, holder: JsonObject | null): boolean {
  if (isTextOfDocument(name, holder)) return false;
  return attachmentKeys.has(name) || (!textKeys.has(name) && dataUrl.test(text));
}

/** Members that models read as text, whatever it begins with. */
const textKeys: ReadonlySet<string> = new Set(['text', 'content', 'system', 'instructions', 'prompt', 'output']);

/** A text document of Messages has its text in `data`. */
function isTextOfDocument(name: string, holder: JsonObject | null): boolean {
  return name === 'data' && holder?.type === 'text';
}

/** Browsers add parameters, such as `codecs=opus`. */
const dataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w-]+=[^;,]*){0,4};base64,/;

/** Returns the texts of a request that its model reads, for counts and estimates. Empty for null. Attachments are no texts. */
export function promptTexts(params: JsonObject | null): string[] {
  return textsBelow(params, promptKeys);
}

/** Returns all model text below these keys of a body, at most 32 levels deep. */
export function textsBelow(body: JsonObject | null, keys: readonly string[]): string[] {
  const texts: string[] = [];
  for (const key of keys) collect(body?.[key], key, body, texts, 0);
  return texts;
}

/** Characters of text per token, roughly. */
export const charactersPerToken = 4;

/** Estimates the tokens of texts by their bytes in UTF-8, at once. A character outside ASCII, such as a Chinese one, is about a token. */
export function roughTokens(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return Math.ceil(bytes / charactersPerToken);
}

/**
 * Estimates the tokens of a prompt that `promptTexts` leaves out: attachments by their length, each up to `attachmentTokens`, and one for each
 * number of a list, such as a prompt of token ids.
 */
export function tokensBesideTexts(params: JsonObject | null): number {
  return promptKeys.reduce((sum, key) => sum + besideTexts(params?.[key], key, params, 0), 0);
}

function besideTexts(value: unknown, name: string, holder: JsonObject | null, depth: number): number {
  if (typeof value === 'string')
    return isAttachment(name, value, holder) ? Math.min(Math.ceil(value.length / charactersPerToken), attachmentTokens) : 0;
  if (depth > depthMax) return 0;
  let sum = 0;
  if (Array.isArray(value)) {
    for (const item of value) sum += typeof item === 'number' ? 1 : besideTexts(item, name, holder, depth + 1);
  } else if (isObject(value)) for (const key in value) sum += besideTexts(value[key], key, value, depth + 1);
  return sum;
}

function collect(value: unknown, name: string, holder: JsonObject | null, texts: string[], depth: number): void {
  if (typeof value === 'string') {
    if (!isAttachment(name, value, holder)) texts.push(value);
  } else if (depth > depthMax) return;
  else if (Array.isArray(value)) for (const item of value) collect(item, name, holder, texts, depth + 1);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value))
      if (!notText.has(key) || isTextOfDocument(key, value)) collect(item, key, value, texts, depth + 1);
  }
}
