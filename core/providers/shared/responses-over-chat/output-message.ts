import type { JsonObject } from '../../../contract/json.ts';
import type { OutputItem } from './output-items.ts';

/** A `message` item: parts of text and refusal, one after the other. */
export interface MessageItem extends OutputItem {
  text(text: string, logprobs: readonly unknown[]): JsonObject[];
  refusal(text: string): JsonObject[];
  annotate(annotations: readonly JsonObject[]): JsonObject[];
}

interface Part {
  readonly type: 'output_text' | 'refusal';
  text: string;
  readonly annotations: JsonObject[];
  readonly logprobs: unknown[];
}

export function messageItem(id: string, place: number): MessageItem {
  const content: JsonObject[] = [];
  const value: JsonObject = { id, type: 'message', status: 'in_progress', role: 'assistant', content };
  let part: Part | null = null;

  const event = (type: string, fields: JsonObject): JsonObject => ({
    type: `response.${type}`,
    item_id: id,
    output_index: place,
    content_index: content.length - 1,
    ...fields,
  });
  const endPart = (): JsonObject[] => {
    if (part === null) return [];
    const shown = shownPart(part);
    content[content.length - 1] = shown;
    const done =
      part.type === 'refusal'
        ? event('refusal.done', { refusal: part.text })
        : event('output_text.done', { text: part.text, logprobs: part.logprobs });
    part = null;
    return [done, event('content_part.done', { part: shown })];
  };
  const inPart = (type: Part['type']): [Part, JsonObject[]] => {
    if (part?.type === type) return [part, []];
    const ended = endPart();
    part = { type, text: '', annotations: [], logprobs: [] };
    content.push(shownPart(part));
    return [part, [...ended, event('content_part.added', { part: shownPart(part) })]];
  };

  return {
    value,
    isWhole: () => true,
    text(text, logprobs) {
      const [into, events] = inPart('output_text');
      into.text += text;
      into.logprobs.push(...logprobs);
      return [...events, event('output_text.delta', { delta: text, logprobs })];
    },
    refusal(text) {
      const [into, events] = inPart('refusal');
      into.text += text;
      return [...events, event('refusal.delta', { delta: text })];
    },
    annotate(annotations) {
      const [into, events] = inPart('output_text');
      for (const annotation of annotations) {
        events.push(event('output_text.annotation.added', { annotation_index: into.annotations.length, annotation }));
        into.annotations.push(annotation);
      }
      return events;
    },
    close(cut) {
      const events = endPart();
      value.status = cut ? 'incomplete' : 'completed';
      return [...events, { type: 'response.output_item.done', output_index: place, item: structuredClone(value) }];
    },
  };
}

function shownPart({ type, text, annotations, logprobs }: Part): JsonObject {
  if (type === 'refusal') return { type, refusal: text };
  return { type, text, annotations: [...annotations], logprobs: [...logprobs] };
}
