import { isObject, type JsonObject, objectsIn } from '../../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from '../depth.ts';

export type StreamFormat = 'chat' | 'messages' | 'responses';

/** A text of the reply in an event, and where it stands. */
export interface EventText {
  readonly holder: JsonObject;
  readonly field: string;
  /** The text of the reply that it continues; null: it is a whole text, such as the repetition at the end of a part. */
  readonly key: string | null;
}

export interface EventTexts {
  readonly texts: readonly EventText[];
  /** Keys of the texts that end with this event; null: all end. */
  readonly ended: readonly string[] | null;
}

/**
 * Finds the texts of the reply in one event of a stream, and those of an error, which clients show. Tool calls are no texts of the reply. `isError`:
 * the event is named `error`. Throws Error for a value that is nested too deeply to be read.
 */
export function eventTexts(format: StreamFormat, event: JsonObject, isError = false): EventTexts {
  // A provider that sends events of another format must not get past the checks.
  if (isError || event.type === 'error' || !isOfFormat(format, event)) {
    const texts: EventText[] = [];
    everyText(event, texts, 0);
    return { texts, ended: [] };
  }
  const found = readers[format](event);
  const others: EventText[] = [];
  for (const holder of [event, event.response]) {
    if (!isObject(holder)) continue;
    add(others, holder, 'error', null);
    everyText(holder.error, others, 0);
  }
  // The reason for a refusal. In chats it repeats `refusal`.
  for (const holder of [event, event.response, event.message, event.delta]) {
    if (isObject(holder) && isObject(holder.stop_details)) add(others, holder.stop_details, 'explanation', null);
  }
  return others.length === 0 ? found : { texts: [...found.texts, ...others], ended: found.ended };
}

function isOfFormat(format: StreamFormat, event: JsonObject): boolean {
  return format === 'chat' ? Array.isArray(event.choices) : typeof event.type === 'string';
}

function everyText(value: unknown, texts: EventText[], depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > depthMax) throw tooDeep();
  for (const [field, item] of Object.entries(value)) {
    if (typeof item === 'string') texts.push({ holder: value as JsonObject, field, key: null });
    else everyText(item, texts, depth + 1);
  }
}

const readers: Readonly<Record<StreamFormat, (event: JsonObject) => EventTexts>> = {
  chat(event) {
    const texts: EventText[] = [];
    const ended: string[] = [];
    for (const choice of objectsIn(event.choices)) {
      const key = `${choice.index ?? 0}`;
      // Together AI repeats each delta in `text`.
      add(texts, choice, 'text', isObject(choice.delta) ? `${key} text` : key);
      for (const [field, value] of Object.entries(isObject(choice.delta) ? choice.delta : {})) {
        if (field === 'refusal') add(texts, choice.delta as JsonObject, field, `${key} refusal`);
        if (field === 'audio' && isObject(value)) add(texts, value, 'transcript', `${key} transcript`);
        if (field !== 'content') continue;
        add(texts, choice.delta as JsonObject, field, key);
        for (const part of objectsIn(value)) add(texts, part, 'text', key);
      }
      if (isObject(choice.message)) wholeTexts(choice.message, texts);
      if (choice.finish_reason !== undefined && choice.finish_reason !== null)
        ended.push(key, `${key} text`, `${key} refusal`, `${key} transcript`);
    }
    return { texts, ended };
  },
  messages(event) {
    const texts: EventText[] = [];
    const key = `${event.index ?? 0}`;
    const { content_block: block, delta } = event;
    if (event.type === 'content_block_start' && isObject(block)) {
      add(texts, block, 'text', key);
      wholeTexts({ content: block.content }, texts);
    }
    if (event.type === 'content_block_delta' && isObject(delta)) add(texts, delta, 'text', key);
    wholeTexts(event.message, texts);
    if (event.type === 'message_stop') return { texts, ended: null };
    return { texts, ended: event.type === 'content_block_stop' ? [key] : [] };
  },
  responses(event) {
    const texts: EventText[] = [];
    const type = typeof event.type === 'string' ? event.type : '';
    const [, kind, phase] =
      /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text|(?:output_)?audio[._]transcript)\.(delta|done)$/.exec(
        type,
      ) ?? [];
    const key = `${kind} ${event.output_index ?? 0} ${event.content_index ?? event.summary_index ?? 0}`;
    if (kind !== undefined && phase === 'delta') add(texts, event, 'delta', key);
    else wholeTexts(event, texts);
    for (const field of ['part', 'item', 'response']) wholeTexts(event[field], texts);
    if (/^response\.(?:completed|incomplete|failed)$/.test(type)) return { texts, ended: null };
    return { texts, ended: kind !== undefined && phase === 'done' ? [key] : [] };
  },
};

function add(texts: EventText[], holder: JsonObject, field: string, key: string | null): void {
  if (typeof holder[field] === 'string') texts.push({ holder, field, key });
}

/** Adds the texts of a part, an item, a message or a whole response. */
function wholeTexts(value: unknown, texts: EventText[]): void {
  if (Array.isArray(value)) for (const item of value) wholeTexts(item, texts);
  if (!isObject(value)) return;
  for (const field of ['text', 'refusal', 'transcript', 'content']) add(texts, value, field, null);
  for (const field of ['content', 'summary', 'output', 'audio']) {
    if (typeof value[field] === 'object') wholeTexts(value[field], texts);
  }
}

/**
 * Removes messages beside the delta of a text that has not ended. Perplexity repeats all text so far in each chunk, and a finding at its end would
 * be cut in two. Returns true if there were any.
 */
export function removePartialMessages(event: JsonObject): boolean {
  let isRemoved = false;
  for (const choice of objectsIn(event.choices)) {
    const isPartial = isObject(choice.delta) && (choice.finish_reason === undefined || choice.finish_reason === null);
    if (!isPartial || choice.message === undefined) continue;
    choice.message = undefined;
    isRemoved = true;
  }
  return isRemoved;
}

/** Returns true if an event is empty without these texts, as a delta that is held back. */
export function isEmptyDelta(format: StreamFormat, event: JsonObject): boolean {
  if (format === 'messages') return event.type === 'content_block_delta';
  if (format === 'responses') return typeof event.type === 'string' && event.type.endsWith('.delta');
  // Such as counts of tokens, or results of a search that are in the first chunk alone.
  if (Object.entries(event).some(([name, value]) => name !== 'choices' && typeof value === 'object' && value !== null))
    return false;
  return objectsIn(event.choices).every((choice) => {
    if (choice.finish_reason !== undefined && choice.finish_reason !== null) return false;
    const delta = isObject(choice.delta) ? choice.delta : {};
    return Object.entries(delta).every(([field, value]) => field === 'content' || field === 'refusal' || value === null);
  });
}

/** Returns an event like `event` with `text` as its only text, to send what was held back when a text ends. */
export function textEvent(format: StreamFormat, event: JsonObject, { holder, field }: EventText, text: string): JsonObject {
  const { usage: _usage, ...base } = event;
  if (format === 'messages') return { type: 'content_block_delta', index: event.index, delta: { type: 'text_delta', text } };
  if (format === 'responses') return { ...base, delta: text };
  const choice = objectsIn(event.choices).find(
    (each) => each === holder || each.delta === holder || contentHas(each.delta, holder) || audioOf(each.delta) === holder,
  );
  if (holder === choice) {
    const other = isObject(choice.delta) ? { delta: {} } : {};
    return { ...base, choices: [{ ...choice, ...other, text, finish_reason: null }] };
  }
  const delta = field === 'transcript' ? { audio: { transcript: text } } : { [field === 'refusal' ? field : 'content']: text };
  return { ...base, choices: [{ index: choice?.index ?? 0, delta, finish_reason: null }] };
}

function audioOf(delta: unknown): unknown {
  return isObject(delta) ? delta.audio : undefined;
}

function contentHas(delta: unknown, part: JsonObject): boolean {
  return isObject(delta) && Array.isArray(delta.content) && delta.content.includes(part);
}
