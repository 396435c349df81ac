import type { JsonObject } from '../../contract/values/json.ts';
import type { OutputItem } from './output-items.ts';
import { sealThoughts } from './sealed-reasoning.ts';

/** A `reasoning` item: the reasoning texts as summaries, and the signed blocks as sealed content. */
export interface ReasoningItem extends OutputItem {
  /** `piece` holds `thinking` or `signature`, or is a block of type `redacted_thinking`. Another `key` starts another block. */
  add(key: unknown, piece: JsonObject): JsonObject[];
}

interface Thought {
  readonly key: unknown;
  text: string;
  signature: string;
  /** Place of its text among the summaries; null as long as it has none. */
  summary: number | null;
}

export function reasoningItem(id: string, place: number): ReasoningItem {
  const summary: JsonObject[] = [];
  const value: JsonObject = { id, type: 'reasoning', summary };
  /** Blocks that are complete. */
  const blocks: JsonObject[] = [];
  let thought: Thought | null = null;

  const event = (type: string, index: number, fields: JsonObject): JsonObject => ({
    type: `response.reasoning_summary_${type}`,
    item_id: id,
    output_index: place,
    summary_index: index,
    ...fields,
  });
  const endThought = (): JsonObject[] => {
    if (thought === null) return [];
    const { text, signature, summary: index } = thought;
    blocks.push({ type: 'thinking', thinking: text, signature });
    thought = null;
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
        events.push(...endThought());
        blocks.push({ type: 'redacted_thinking', data: piece.data });
        return events;
      }
      // A signature ends a reasoning block: later pieces belong to the next one.
      if (thought !== null && (thought.key !== key || (thought.signature !== '' && piece.thinking))) events.push(...endThought());
      thought ??= { key, text: '', signature: '', summary: null };
      if (typeof piece.thinking === 'string' && piece.thinking !== '') {
        if (thought.summary === null) {
          thought.summary = summary.length;
          summary.push({ type: 'summary_text', text: '' });
          events.push(event('part.added', thought.summary, { part: { type: 'summary_text', text: '' } }));
        }
        thought.text += piece.thinking;
        events.push(event('text.delta', thought.summary, { delta: piece.thinking }));
      }
      if (typeof piece.signature === 'string') thought.signature += piece.signature;
      return events;
    },
    close() {
      const events = endThought();
      value.encrypted_content = sealThoughts(blocks);
      return [...events, { type: 'response.output_item.done', output_index: place, item: structuredClone(value) }];
    },
  };
}
