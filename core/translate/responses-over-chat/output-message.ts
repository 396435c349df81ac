import type { JsonObject } from '../../contract/values/json/json.ts';
import { fieldsOf } from '../chat-message-reader.ts';
import type { OutputItem } from './output-items.ts';

/** A `message` item with parts of text and refusal, in order. */
export interface MessageItem extends OutputItem {
  text(text: string, logprobs: readonly unknown[]): JsonObject[];
  refusal(text: string): JsonObject[];
  /** An annotation of a chat message. Its offsets refer to all text of the reply. */
  annotate(annotation: JsonObject): JsonObject[];
}

interface Part {
  readonly type: 'output_text' | 'refusal';
  text: string;
  /** Number of characters of the reply before this part. */
  readonly from: number;
  readonly annotations: JsonObject[];
  readonly logprobs: unknown[];
}

/** `spoken`: number of characters of the reply so far. */
export function messageItem(id: string, position: number, spoken: () => number): MessageItem {
  const content: JsonObject[] = [];
  const value: JsonObject = { id, type: 'message', status: 'in_progress', role: 'assistant', content };
  let part: Part | null = null;

  const event = (type: string, fields: JsonObject): JsonObject => ({
    type: `response.${type}`,
    item_id: id,
    output_index: position,
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
    part = { type, text: '', from: spoken(), annotations: [], logprobs: [] };
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
    annotate(given) {
      const [into, events] = inPart('output_text');
      const annotation = annotationOf(given, into.from);
      events.push(event('output_text.annotation.added', { annotation_index: into.annotations.length, annotation }));
      into.annotations.push(annotation);
      return events;
    },
    close(cut) {
      const events = endPart();
      value.status = cut ? 'incomplete' : 'completed';
      return [...events, { type: 'response.output_item.done', output_index: position, item: structuredClone(value) }];
    },
  };
}

/** Chat completions nest the fields of a citation under its type, and their offsets begin at the first character of the reply. */
function annotationOf(annotation: JsonObject, from: number): JsonObject {
  const inPart = (value: unknown): unknown => (typeof value === 'number' ? Math.max(0, value - from) : value);
  const fields: JsonObject = { type: annotation.type, ...fieldsOf(annotation) };
  return from === 0 ? fields : { ...fields, start_index: inPart(fields.start_index), end_index: inPart(fields.end_index) };
}

function shownPart({ type, text, annotations, logprobs }: Part): JsonObject {
  if (type === 'refusal') return { type, refusal: text };
  return { type, text, annotations: [...annotations], logprobs: [...logprobs] };
}
