import type { JsonObject } from '../../contract/values/json/json.ts';
import type { OutputItem } from './output-items.ts';
import { sealReasoning } from './sealed-reasoning.ts';

/** A `reasoning` item, with the reasoning texts as summaries and the signed blocks as sealed content. */
export interface ReasoningItem extends OutputItem {
  /** `piece` holds `thinking` or `signature`, or is a block of type `redacted_thinking`. Another `key` starts another block. */
  add(key: unknown, piece: JsonObject): JsonObject[];
}

interface ReasoningPart {
  readonly key: unknown;
  text: string;
  signature: string;
  /** Index of its text among the summaries. Null while it has none. */
  summary: number | null;
}

/** It has a status, as at xAI, whose clients require one. At OpenAI it is optional. */
export function reasoningItem(id: string, position: number): ReasoningItem {
  const summary: JsonObject[] = [];
  const value: JsonObject = { id, type: 'reasoning', status: 'in_progress', summary };
  /** Blocks that are complete. */
  const blocks: JsonObject[] = [];
  let reasoningPart: ReasoningPart | null = null;

  const event = (type: string, index: number, fields: JsonObject): JsonObject => ({
    type: `response.reasoning_summary_${type}`,
    item_id: id,
    output_index: position,
    summary_index: index,
    ...fields,
  });
  const endReasoning = (): JsonObject[] => {
    if (reasoningPart === null) return [];
    const { text, signature, summary: index } = reasoningPart;
    blocks.push({ type: 'thinking', thinking: text, signature });
    reasoningPart = null;
    if (index === null) return [];
    const part = { type: 'summary_text', text };
    summary[index] = part;
    return [event('text.done', index, { text }), event('part.done', index, { part })];
  };

  return {
    value,
    isWhole: () => true,
    add(key, piece) {
      const events: JsonObject[] = [];
      if (piece.type === 'redacted_thinking') {
        events.push(...endReasoning());
        blocks.push({ type: 'redacted_thinking', data: piece.data });
        return events;
      }
      // A signature ends a reasoning block. Later pieces belong to the next one.
      if (reasoningPart !== null && (reasoningPart.key !== key || (reasoningPart.signature !== '' && piece.thinking)))
        events.push(...endReasoning());
      reasoningPart ??= { key, text: '', signature: '', summary: null };
      if (typeof piece.thinking === 'string' && piece.thinking !== '') {
        if (reasoningPart.summary === null) {
          reasoningPart.summary = summary.length;
          summary.push({ type: 'summary_text', text: '' });
          events.push(event('part.added', reasoningPart.summary, { part: { type: 'summary_text', text: '' } }));
        }
        reasoningPart.text += piece.thinking;
        events.push(event('text.delta', reasoningPart.summary, { delta: piece.thinking }));
      }
      if (typeof piece.signature === 'string') reasoningPart.signature += piece.signature;
      return events;
    },
    close(cut) {
      const events = endReasoning();
      value.status = cut ? 'incomplete' : 'completed';
      value.encrypted_content = sealReasoning(blocks);
      return [...events, { type: 'response.output_item.done', output_index: position, item: structuredClone(value) }];
    },
  };
}
