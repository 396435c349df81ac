import { isDeepStrictEqual } from 'node:util';
import { removeRepeats } from '../../core/contract/plugin/text/repeated-texts.ts';
import { isObject, type JsonObject, listOf, objectsIn, parseObject } from '../../core/contract/values/json/json.ts';
import { framesOf } from '../../core/contract/values/text/event-frames.ts';
import { dataOf, hasMarkedLine, withData } from '../../core/contract/values/text/event-text.ts';
import { notText } from './texts.ts';
import { eventTexts, type StreamFormat } from './window/event-texts.ts';

/** One event of a held stream. `json` is null for `[DONE]` and comments. */
interface HeldEvent {
  readonly frame: string;
  readonly json: JsonObject | null;
}

/** A whole stream as the body that the same reply would have without streaming, for checks to read. */
export class HeldStream {
  readonly #events: HeldEvent[];
  readonly #format: StreamFormat;
  /** The whole reply: its content (`choices`, `content` or `output`), and its other members. Null: an event cannot be read. */
  readonly body: JsonObject | null;

  constructor(format: StreamFormat, stream: string) {
    this.#format = format;
    this.#events = framesOf(stream).map((frame) => ({ frame, json: parseObject(dataOf(frame) ?? '') }));
    const isReadable = this.#events.every(({ frame, json }) => !hasMarkedLine(frame) && (json !== null || hasNoText(frame)));
    this.body = isReadable ? this.#bodyOf(this.#events.flatMap(({ json }) => (json === null ? [] : [json]))) : null;
  }

  /** The reply, and behind its content each text that is in the events alone: clients may read it. */
  #bodyOf(events: readonly JsonObject[]): JsonObject {
    const body = bodies[this.#format](events);
    const name = contentOf[this.#format];
    const others = otherTexts(this.#format, events, body);
    return { ...body, [name]: [...(body[name] as unknown[]), ...others.map(holders[this.#format])] };
  }

  /**
   * Returns the stream with the texts of a changed `body`: the first delta of a changed text holds the whole new text, its other deltas are empty.
   * Null if something was changed that no event holds, or if the stream cannot be read.
   */
  withBody(changed: JsonObject): string | null {
    if (this.body === null) return null;
    removeRepeats(changed);
    const old = textsOf(this.#format, this.body);
    const texts = textsOf(this.#format, changed);
    const written = new Set<string>();
    const next: NextText = (key, piece) => {
      const text = texts.get(key);
      if (piece === '' || (text !== undefined && text === old.get(key))) return piece;
      const given = written.has(key) ? '' : (text ?? '');
      written.add(key);
      return given;
    };
    const name = contentOf[this.#format];
    const rewrite = rewriters[this.#format](objectsIn(changed[name]), next);
    const stream = this.#events
      .map(({ frame, json }) => {
        if (json === null) return frame;
        const given = this.#format === 'chat' ? withMessages(json, old, texts) : json;
        const rewritten = rewrite(given);
        removeRepeats(rewritten);
        return withData(frame, JSON.stringify(rewritten));
      })
      .join('');
    // An old text may remain in an event that is not rewritten, such as the first one of a part. It must not be sent.
    const sent = new HeldStream(this.#format, stream).body;
    return isDeepStrictEqual(sent?.[name], changed[name]) ? stream : null;
  }
}

/** Returns the texts of the events that the content lacks, each once. */
function otherTexts(format: StreamFormat, events: readonly JsonObject[], body: JsonObject): string[] {
  const joined = new Map<string, string>();
  const whole: string[] = [];
  const repeats = new Set<unknown>();
  if (format === 'chat') {
    const texts = textsOf(format, body);
    const choices = events.flatMap((event) => objectsIn(event.choices));
    for (const choice of choices) if (repeatsText(choice, texts)) repeats.add(choice.message);
  }
  for (const event of events) {
    for (const { holder, field, key } of eventTexts(format, event).texts) {
      const text = string(holder[field]);
      if (key !== null) joined.set(key, string(joined.get(key)) + text);
      else if (field !== 'content' || !repeats.has(holder)) whole.push(text);
    }
  }
  const others = new Set([...joined.values(), ...whole]);
  others.delete('');
  JSON.stringify(body[contentOf[format]], (name, value: unknown) => {
    if (typeof value === 'string' && !notText.has(name)) others.delete(value);
    return value;
  });
  return [...others];
}

/** True for a choice with all of its text so far beside the delta, as Perplexity sends in each chunk. */
function repeatsText(choice: JsonObject, texts: ReadonlyMap<string, string>): boolean {
  if (!isObject(choice.message) || typeof choice.message.content !== 'string') return false;
  return (texts.get(`${indexOf(choice)} content`) ?? '').startsWith(choice.message.content);
}

/** Returns a chunk of chat with the whole new text where it has all text so far. */
function withMessages(json: JsonObject, old: ReadonlyMap<string, string>, texts: ReadonlyMap<string, string>): JsonObject {
  if (!Array.isArray(json.choices)) return json;
  const choices = objectsIn(json.choices).map((choice) => {
    if (!repeatsText(choice, old)) return choice;
    return { ...choice, message: { ...(choice.message as JsonObject), content: texts.get(`${indexOf(choice)} content`) } };
  });
  return { ...json, choices };
}

/** A text as an entry of the content. */
const holders: Readonly<Record<StreamFormat, (text: string) => JsonObject>> = {
  chat: (content) => ({ message: { role: 'assistant', content } }),
  messages: (text) => ({ type: 'text', text }),
  responses: (text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
};

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
      if (event.type === 'content_block_start' && isObject(event.content_block)) {
        const { citations } = event.content_block;
        content[at] = { ...event.content_block, ...(Array.isArray(citations) ? { citations: [...citations] } : {}) };
      }
      if (event.type !== 'content_block_delta' || !isObject(event.delta)) continue;
      // Clients that read deltas also read those of a block that no event has started.
      const block = content[at] ?? { type: 'text', text: '' };
      content[at] = block;
      const { type: _type, signature: _signature, citation, ...texts } = event.delta;
      for (const [key, value] of Object.entries(texts)) join(block, key, value);
      if (citation === undefined) continue;
      if (!Array.isArray(block.citations)) block.citations = [];
      (block.citations as unknown[]).push(citation);
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
    // Some servers send items that the last event does not repeat.
    if (items.length === 0) {
      for (const { type, item } of events) if (type === 'response.output_item.done' && isObject(item)) items.push(item);
    }
    const known = new Set(items.flatMap(argumentsIn));
    const others = callArguments(events).filter((text) => !known.has(text));
    items.push(...others.map((text) => ({ type: 'function_call', arguments: text })));
    return { ...response, output: items };
  },
};

/** Returns the arguments of the calls in the events of Responses, each once. */
function callArguments(events: readonly JsonObject[]): string[] {
  const joined = new Map<number, string>();
  const whole: string[] = [];
  for (const event of events) {
    const at = indexOf(event, 'output_index');
    const isPiece = /_(?:arguments|input|code)\.delta$/.test(string(event.type));
    if (isPiece) joined.set(at, string(joined.get(at)) + string(event.delta));
    else whole.push(...argumentsIn(event), ...(isObject(event.item) ? argumentsIn(event.item) : []));
  }
  return [...new Set([...joined.values(), ...whole])];
}

/** Returns the arguments of a call: those of a function, the text of a custom tool, or code. */
function argumentsIn(item: JsonObject): string[] {
  return ['arguments', 'input', 'code'].map((field) => string(item[field])).filter((text) => text !== '');
}

const contentOf = { chat: 'choices', messages: 'content', responses: 'output' } as const;

function addDelta(message: JsonObject, { role: _role, content, ...delta }: JsonObject): void {
  message.content = string(message.content) + string(content);
  for (const part of objectsIn(content)) message.content += string(part.text);
  for (const [key, value] of Object.entries(delta)) join(message, key, value);
}

/** Members that deltas repeat instead of continuing. */
const repeated: ReadonlySet<string> = new Set(['id', 'index', 'type']);
/** Checks read no deeper. */
const depthMax = 32;

/**
 * Adds a piece of a delta to a member, joining texts at any depth. A list becomes an object by index, because the index of an entry can be any
 * number. Under a name that also has a text, only the text counts.
 */
function join(all: JsonObject, key: string, piece: unknown, depth = 0): void {
  // An assignment would set the prototype.
  if (key === '__proto__') return;
  const known = all[key];
  if (typeof piece === 'string' && !repeated.has(key)) all[key] = string(known) + piece;
  else if (typeof piece !== 'object' || piece === null || depth > depthMax) all[key] = known ?? piece;
  else if (typeof known !== 'string') {
    const inner: JsonObject = isObject(known) ? known : {};
    all[key] = inner;
    for (const [name, value] of Object.entries(piece)) {
      const isNumbered = Array.isArray(piece) && isObject(value) && typeof value.index === 'number';
      join(inner, isNumbered ? `${value.index}` : name, value, depth + 1);
    }
  }
}

/** Returns the new text for a piece of the text with this key. */
type NextText = (key: string, piece: string) => string;

/** The texts of a body by the key under which their deltas come. */
function textsOf(format: StreamFormat, body: JsonObject): Map<string, string> {
  const texts = new Map<string, string>();
  const content = [...objectsIn(body[contentOf[format]]).entries()];
  if (format === 'chat') {
    for (const [, { text, message, ...choice }] of content) {
      if (isObject(message)) addTexts(texts, `${indexOf(choice)}`, message);
      else texts.set(`${indexOf(choice)} text`, string(text));
    }
  } else if (format === 'messages') {
    for (const [at, block] of content) {
      for (const [name, value] of Object.entries(block)) if (typeof value === 'string') texts.set(`${at} ${name}`, value);
    }
  } else {
    for (const [at, item] of content) {
      for (const field of ['content', 'summary']) {
        for (const [index, part] of objectsIn(item[field]).entries())
          texts.set(`${field} ${at}.${index}`, string(part.text ?? part.refusal));
      }
      for (const field of ['arguments', 'input', 'code']) texts.set(`${field} ${at}`, string(item[field]));
    }
  }
  return texts;
}

/** Adds the texts of a message of chat, at any depth. */
function addTexts(texts: Map<string, string>, path: string, value: object, depth = 0): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'string') texts.set(`${path} ${name}`, inner);
    else if (typeof inner === 'object' && inner !== null && depth < depthMax)
      addTexts(texts, `${path} ${name}`, inner, depth + 1);
  }
}

type Rewrite = (json: JsonObject) => JsonObject;

/** `content` is that of the changed body. */
const rewriters: Readonly<Record<StreamFormat, (content: readonly JsonObject[], next: NextText) => Rewrite>> = {
  chat: (_content, next) => (json) => {
    if (!Array.isArray(json.choices)) return json;
    const choices = objectsIn(json.choices).map((choice) => {
      const key = `${indexOf(choice)}`;
      if (isObject(choice.delta)) return { ...choice, delta: rewriteDelta(choice.delta, key, next) };
      return typeof choice.text === 'string' ? { ...choice, text: next(`${key} text`, choice.text) } : choice;
    });
    return { ...json, choices };
  },
  messages(content, next) {
    const cited = new Map<number, number>();
    return (json) => {
      const { delta, content_block: start } = json;
      const at = indexOf(json);
      const citations = listOf(content[at]?.citations);
      if (json.type === 'content_block_start' && isObject(start)) {
        const first = listOf(start.citations).length;
        cited.set(at, first);
        const block = { ...content[at], citations: citations.slice(0, first) };
        return { ...json, content_block: rewriteStart(start, block, `${at}`, next) };
      }
      if (json.type !== 'content_block_delta' || !isObject(delta)) return json;
      const { signature: _signature, citation, ...texts } = delta;
      const rewritten = { ...delta, ...rewriteTexts(texts, `${at}`, next) };
      if (citation === undefined) return { ...json, delta: rewritten };
      const number = cited.get(at) ?? 0;
      cited.set(at, number + 1);
      return { ...json, delta: { ...rewritten, citation: citations[number] ?? citation } };
    };
  },
  responses: (items, next) => (json) => {
    const type = string(json.type);
    const at = indexOf(json, 'output_index');
    const field = type.includes('summary') ? 'summary' : 'content';
    const index = indexOf(json, `${field}_index`);
    const item = items[at];
    const part = objectsIn(item?.[field])[index];
    const [, kind, phase] =
      /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\.(delta|done)$/.exec(type) ?? [];
    if (phase === 'delta') return { ...json, delta: next(`${field} ${at}.${index}`, string(json.delta)) };
    if (phase === 'done')
      return kind === 'refusal' ? { ...json, refusal: part?.refusal ?? '' } : { ...json, text: part?.text ?? '' };
    const [, member = '', step] = /_(arguments|input|code)\.(delta|done)$/.exec(type) ?? [];
    if (step === 'delta') return { ...json, delta: next(`${member} ${at}`, string(json.delta)) };
    if (step === 'done') return { ...json, [member]: item?.[member] ?? '' };
    switch (type) {
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        return { ...json, part: part ?? null };
      case 'response.output_item.done':
        return { ...json, item: item ?? null };
      default:
        return isObject(json.response) && objectsIn(json.response.output).length > 0
          ? { ...json, response: { ...json.response, output: items } }
          : json;
    }
  },
};

/** The role is no text, and parts of the content continue one text. */
function rewriteDelta(delta: JsonObject, key: string, next: NextText): JsonObject {
  const { role: _role, content, ...others } = delta;
  const changed: JsonObject = { ...delta, ...(rewriteMembers(others, key, next) as JsonObject) };
  if (typeof content === 'string') changed.content = next(`${key} content`, content);
  else if (Array.isArray(content)) {
    changed.content = content.map((part) =>
      isObject(part) && typeof part.text === 'string' ? { ...part, text: next(`${key} content`, part.text) } : part,
    );
  }
  return changed;
}

/** Rewrites the texts of a piece of a delta where `join` adds them. */
function rewriteMembers(piece: object, path: string, next: NextText, depth = 0): unknown {
  const members = Object.entries(piece).map(([name, value]): [string, unknown] => {
    const at = Array.isArray(piece) && isObject(value) && typeof value.index === 'number' ? `${value.index}` : name;
    if (typeof value === 'string') return [name, repeated.has(name) ? value : next(`${path} ${name}`, value)];
    if (typeof value !== 'object' || value === null || depth > depthMax) return [name, value];
    return [name, rewriteMembers(value, `${path} ${at}`, next, depth + 1)];
  });
  return Array.isArray(piece) ? members.map(([, value]) => value) : Object.fromEntries(members);
}

/** The start of a block of Messages: the beginning of its texts, and whole values such as the results of a search. */
function rewriteStart(start: JsonObject, block: JsonObject, key: string, next: NextText): JsonObject {
  const rewritten = { ...start, ...rewriteTexts(start, key, next) };
  for (const [name, value] of Object.entries(start)) {
    if (typeof value === 'object' && value !== null && block[name] !== undefined) rewritten[name] = block[name];
  }
  return rewritten;
}

/** Returns the texts among these members, rewritten. */
function rewriteTexts(members: JsonObject, key: string, next: NextText): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      typeof value === 'string' && !repeated.has(name) ? [[name, next(`${key} ${name}`, value)]] : [],
    ),
  );
}
