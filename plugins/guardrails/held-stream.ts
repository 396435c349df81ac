import { isObject, type JsonObject, objectsIn, parseObject } from '../../core/contract/values/json/json.ts';
import { framesOf } from '../../core/contract/values/text/event-frames.ts';
import { dataOf, hasMarkedLine, withData } from '../../core/contract/values/text/event-text.ts';
import { removeLogprobs } from './window/event-texts.ts';

/** One event of a held stream. `json` is null for `[DONE]` and comments. */
interface HeldEvent {
  readonly frame: string;
  readonly json: JsonObject | null;
}

/** A whole stream as the body that the same reply would have without streaming, for checks to read. */
export class HeldStream {
  readonly #events: HeldEvent[];
  readonly #format: 'chat' | 'messages' | 'responses';
  /** The whole reply: its content (`choices`, `content` or `output`), and its other members. Null: an event cannot be read. */
  readonly body: JsonObject | null;

  constructor(format: 'chat' | 'messages' | 'responses', stream: string) {
    this.#format = format;
    this.#events = framesOf(stream).map((frame) => ({ frame, json: parseObject(dataOf(frame) ?? '') }));
    const isReadable = this.#events.every(({ frame, json }) => !hasMarkedLine(frame) && (json !== null || hasNoText(frame)));
    this.body = isReadable ? bodies[format](this.#events.flatMap(({ json }) => (json === null ? [] : [json]))) : null;
  }

  /**
   * Returns the stream with the texts of a changed `body`: the first delta of a text holds the whole new text, its other deltas are empty.
   * Null if something else than the text of the reply was changed, or if the stream cannot be read.
   */
  withBody(changed: JsonObject): string | null {
    if (this.body === null) return null;
    const old = textsOf(this.#format, this.body);
    const texts = textsOf(this.#format, changed);
    const written = new Set<string>();
    const next = (key: string): string => {
      const text = written.has(key) ? '' : (texts.get(key) ?? '');
      written.add(key);
      return text;
    };
    const name = contentOf[this.#format];
    const isText = withoutTexts(this.body[name], old) === withoutTexts(changed[name], texts);
    if (!isText) return null;
    return this.#events
      .map(({ frame, json }) => {
        if (json === null) return frame;
        const rewritten = rewrite[this.#format](json, next, changed);
        removeLogprobs(rewritten);
        return withData(frame, JSON.stringify(rewritten));
      })
      .join('');
  }
}

/** Returns true for comments, empty events and the end mark. */
function hasNoText(frame: string): boolean {
  const data = dataOf(frame)?.trim() ?? '';
  return data === '' || data === '[DONE]';
}

const string = (value: unknown): string => (typeof value === 'string' ? value : '');
const indexOf = (item: JsonObject, key = 'index'): number => (typeof item[key] === 'number' ? item[key] : 0);

type Accumulated = Record<string, JsonObject>;

const bodies = {
  chat(events: readonly JsonObject[]): JsonObject {
    const choices: Accumulated = {};
    for (const choice of events.flatMap((event) => objectsIn(event.choices))) {
      const index = indexOf(choice);
      const isChat = isObject(choice.delta);
      const known = choices[index] ?? (isChat ? { index, message: { role: 'assistant', content: '' } } : { index, text: '' });
      choices[index] = known;
      if (isObject(choice.delta) && isObject(known.message)) addDelta(known.message, choice.delta);
      else known.text = string(known.text) + string(choice.text);
      if (typeof choice.finish_reason === 'string') known.finish_reason = choice.finish_reason;
    }
    const { object, choices: _choices, ...head } = events.find((event) => Array.isArray(event.choices)) ?? {};
    const usage = events.findLast((event) => isObject(event.usage))?.usage;
    return {
      ...head,
      ...(typeof object === 'string' ? { object: object.replace(/\.chunk$/, '') } : {}),
      choices: Object.values(choices),
      ...(usage === undefined ? {} : { usage }),
    };
  },
  messages(events: readonly JsonObject[]): JsonObject {
    const content: Accumulated = {};
    for (const event of events) {
      const at = indexOf(event);
      if (event.type === 'content_block_start' && isObject(event.content_block)) content[at] = { ...event.content_block };
      if (event.type !== 'content_block_delta' || !isObject(event.delta)) continue;
      // Clients that read deltas also read those of a block that no event has started.
      const block = content[at] ?? { type: 'text', text: '' };
      content[at] = block;
      for (const [key, value] of Object.entries(event.delta)) {
        if (key !== 'type' && key !== 'signature') block[key] = string(block[key]) + string(value);
      }
    }
    const { message } = events.find(({ type }) => type === 'message_start') ?? {};
    const { delta, usage } = events.findLast(({ type }) => type === 'message_delta') ?? {};
    const head = isObject(message) ? message : {};
    return {
      ...head,
      ...(isObject(delta) ? delta : {}),
      // The events of the blocks decide, whatever `content` the other events state.
      content: Object.values(content),
      ...(isObject(usage) ? { usage: { ...(isObject(head.usage) ? head.usage : {}), ...usage } } : {}),
    };
  },
  responses(events: readonly JsonObject[]): JsonObject {
    const last = events.findLast(({ response }) => isObject(response) && Array.isArray(response.output))?.response;
    const response = isObject(last) ? last : {};
    const items = objectsIn(response.output);
    // Some servers send items and texts that the last event does not repeat.
    if (items.length === 0) {
      for (const { type, item } of events) if (type === 'response.output_item.done' && isObject(item)) items.push(item);
    }
    const texts = new Map<string, string>();
    for (const event of events) {
      if (event.type !== 'response.output_text.delta') continue;
      const key = `${indexOf(event, 'output_index')}.${indexOf(event, 'content_index')}`;
      texts.set(key, (texts.get(key) ?? '') + string(event.delta));
    }
    const known = new Set(textsOf('responses', { output: items }).values());
    const others = [...texts.values()].filter((text) => !known.has(text)).map((text) => ({ type: 'output_text', text }));
    if (others.length > 0) items.push({ type: 'message', role: 'assistant', content: others });
    return { ...response, output: items };
  },
};

const contentOf = { chat: 'choices', messages: 'content', responses: 'output' } as const;

function addDelta(message: JsonObject, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (typeof value === 'string' && key !== 'role') message[key] = string(message[key]) + value;
  }
  for (const part of objectsIn(delta.content)) message.content = string(message.content) + string(part.text);
  for (const call of objectsIn(delta.tool_calls)) {
    const calls = (message.tool_calls ?? {}) as Accumulated;
    message.tool_calls = calls;
    const known = calls[indexOf(call)] ?? {};
    calls[indexOf(call)] = known;
    // Functions, and custom tools whose input is free text.
    for (const kind of ['function', 'custom']) {
      const piece = call[kind];
      if (!isObject(piece)) continue;
      const joined = isObject(known[kind]) ? known[kind] : {};
      for (const [key, value] of Object.entries(piece)) if (typeof value === 'string') joined[key] = string(joined[key]) + value;
      known[kind] = joined;
    }
  }
}

/** The texts of a body by the key under which their deltas come. */
function textsOf(format: 'chat' | 'messages' | 'responses', body: JsonObject): Map<string, string> {
  const texts = new Map<string, string>();
  if (format === 'chat') {
    for (const choice of objectsIn(body.choices)) {
      texts.set(`${indexOf(choice)}`, isObject(choice.message) ? string(choice.message.content) : string(choice.text));
    }
  } else if (format === 'messages') {
    for (const [at, block] of objectsIn(body.content).entries())
      if (block.type === 'text') texts.set(`${at}`, string(block.text));
  } else {
    for (const [at, item] of objectsIn(body.output).entries()) {
      for (const [part, content] of objectsIn(item.content).entries()) texts.set(`${at}.${part}`, string(content.text));
    }
  }
  return texts;
}

/** Returns the JSON of a content without the texts, to compare everything else. */
function withoutTexts(content: unknown, texts: ReadonlyMap<string, string>): string | undefined {
  const known = new Set(texts.values());
  return JSON.stringify(content, (key, value: unknown) =>
    (key === 'content' || key === 'text') && known.has(value as string) ? '' : value,
  );
}

const rewrite = {
  chat(json: JsonObject, next: (key: string) => string): JsonObject {
    if (!Array.isArray(json.choices)) return json;
    const choices = objectsIn(json.choices).map((choice) => {
      const key = `${indexOf(choice)}`;
      if (isObject(choice.delta) && typeof choice.delta.content === 'string' && choice.delta.content !== '')
        return { ...choice, delta: { ...choice.delta, content: next(key) } };
      if (isObject(choice.delta) && Array.isArray(choice.delta.content)) {
        const content = choice.delta.content.map((part) =>
          isObject(part) && typeof part.text === 'string' ? { ...part, text: next(key) } : part,
        );
        return { ...choice, delta: { ...choice.delta, content } };
      }
      return typeof choice.text === 'string' && choice.text !== '' ? { ...choice, text: next(key) } : choice;
    });
    return { ...json, choices };
  },
  messages(json: JsonObject, next: (key: string) => string): JsonObject {
    const { delta } = json;
    if (!isObject(delta) || delta.type !== 'text_delta') return json;
    return { ...json, delta: { ...delta, text: next(`${indexOf(json)}`) } };
  },
  responses(json: JsonObject, next: (key: string) => string, changed: JsonObject): JsonObject {
    const at = indexOf(json, 'output_index');
    const part = indexOf(json, 'content_index');
    const item = objectsIn(changed.output)[at];
    const content = objectsIn(item?.content)[part];
    switch (json.type) {
      case 'response.output_text.delta':
        return { ...json, delta: next(`${at}.${part}`) };
      case 'response.output_text.done':
        return { ...json, text: content?.text ?? '' };
      case 'response.content_part.done':
        return { ...json, part: content ?? null };
      case 'response.output_item.done':
        return { ...json, item: item ?? null };
      default:
        return isObject(json.response) && objectsIn(json.response.output).length > 0
          ? { ...json, response: { ...json.response, output: changed.output } }
          : json;
    }
  },
};
