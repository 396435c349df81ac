import { isObject, type JsonObject } from '../json/json.ts';

const depthMax = 32;

/** Parameters that hold text for the model. */
const promptKeys = ['system', 'instructions', 'messages', 'prompt', 'input', 'tools'] as const;

/** Fields that are names, ids or data, not text for a model. */
const notText: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'object',
  'model',
  'url',
  'data',
  'signature',
  'finish_reason',
  'status',
]);

/** Returns the texts of a request that its model reads, for counts and estimates. Empty for null. */
export function promptTexts(params: JsonObject | null): string[] {
  return textsBelow(params, promptKeys);
}

/** Returns all model text below these keys of a body, at most 32 levels deep. */
export function textsBelow(body: JsonObject | null, keys: readonly string[]): string[] {
  const texts: string[] = [];
  for (const key of keys) collect(body?.[key], texts, 0);
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

function collect(value: unknown, texts: string[], depth: number): void {
  if (typeof value === 'string') texts.push(value);
  else if (depth > depthMax) return;
  else if (Array.isArray(value)) for (const item of value) collect(item, texts, depth + 1);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) if (!notText.has(key)) collect(item, texts, depth + 1);
}
