import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';

/**
 * Prefix of signatures made here. A reasoning item of the Responses API becomes a thinking block, so that chat and Messages
 * conversations can carry it. The block's text is the summary. Its signature holds the item's id and the content that only the
 * provider can read. The prefix distinguishes it from signatures of other providers.
 */
const mark = 'openai:';

/** Returns `openai:<id>:<encrypted content>`. Empty if the provider sent no sealed content. */
export function signatureOf(item: JsonObject): string {
  const { id, encrypted_content: sealed } = item;
  return typeof sealed === 'string' && sealed !== '' ? `${mark}${typeof id === 'string' ? id : ''}:${sealed}` : '';
}

/** Joins the summaries of an item and its reasoning text (`reasoning_text`, which open models return). */
export function reasoningOf(item: JsonObject): string {
  return [...objectsIn(item.summary), ...objectsIn(item.content)].map((part) => String(part.text ?? '')).join(betweenSummaries);
}

export const betweenSummaries = '\n\n';

/** Returns the block of an item; null if it has neither text nor sealed reasoning. */
export function toBlock(item: JsonObject): JsonObject | null {
  const [thinking, signature] = [reasoningOf(item), signatureOf(item)];
  if (thinking !== '') return { type: 'thinking', thinking, ...(signature === '' ? {} : { signature }) };
  return signature === '' ? null : { type: 'redacted_thinking', data: signature };
}

/** Returns the item of a block; null for reasoning of another provider, which would make the whole call fail. */
export function toItem(block: JsonObject): JsonObject | null {
  const signature = block.type === 'redacted_thinking' ? block.data : block.signature;
  if (typeof signature !== 'string' || !signature.startsWith(mark)) return null;
  const end = signature.indexOf(':', mark.length);
  if (end === -1) return null;
  const text = block.type === 'thinking' && typeof block.thinking === 'string' ? block.thinking : '';
  return {
    type: 'reasoning',
    ...(end > mark.length ? { id: signature.slice(mark.length, end) } : {}),
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    encrypted_content: signature.slice(end + 1),
  };
}
