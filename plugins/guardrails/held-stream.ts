import { isDeepStrictEqual } from 'node:util';
import { removeRepeats } from '../../core/contract/plugin/text/repeated-texts.ts';
import { hasDuplicateKeys } from '../../core/contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject, objectsIn, parseObject } from '../../core/contract/values/json/json.ts';
import { framesOf } from '../../core/contract/values/text/event-frames.ts';
import { dataOf, hasMarkedLine, withData } from '../../core/contract/values/text/event-text.ts';
import { notText } from './every-text.ts';
import { bodies, contentOf, indexOf, stringOf } from './held-body.ts';
import { changedMembers, outerRewriter, withOuterMembers } from './outer-members.ts';
import { type NextText, rewriters, textsOf } from './rewrite-held-events.ts';
import { eventTexts, type StreamFormat } from './window/event-texts.ts';

/** One event of a held stream. `json` is null for `[DONE]` and comments. */
interface HeldEvent {
  readonly frame: string;
  readonly json: JsonObject | null;
}

/** Maximum length of a changed stream, in lengths of the stream and its changed content. Each event could repeat all of the content. */
const growthMax = 10;

/** A whole stream as the body that the same reply would have without streaming, for checks to read. */
export class HeldStream {
  readonly #events: HeldEvent[];
  readonly #format: StreamFormat;
  readonly #length: number;
  /** The whole reply: its content (`choices`, `content` or `output`), and its other members. Null: an event cannot be read. */
  readonly body: JsonObject | null;

  constructor(format: StreamFormat, stream: string) {
    this.#format = format;
    this.#length = stream.length;
    this.#events = framesOf(stream).map((frame) => ({ frame, json: parseObject(dataOf(frame) ?? '') }));
    const isReadable = this.#events.every(({ frame, json }) => {
      if (hasMarkedLine(frame)) return false;
      return json === null ? hasNoText(frame) : !hasDuplicateKeys(dataOf(frame) ?? '', json);
    });
    this.body = isReadable ? this.#bodyOrNull(this.#events.flatMap(({ json }) => (json === null ? [] : [json]))) : null;
  }

  /** Null if an event is nested too deeply to be read. */
  #bodyOrNull(events: readonly JsonObject[]): JsonObject | null {
    try {
      return this.#bodyOf(events);
    } catch {
      return null;
    }
  }

  /** The reply, and behind its content each text that is in the events alone: clients may read it. */
  #bodyOf(events: readonly JsonObject[]): JsonObject {
    const body = withOuterMembers(this.#format, events, bodies[this.#format](events));
    const name = contentOf[this.#format];
    const others = otherTexts(this.#format, events, body);
    return { ...body, [name]: [...(body[name] as unknown[]), ...others.map(holders[this.#format])] };
  }

  /**
   * Returns the stream with the texts of a changed `body`: the first delta of a changed text holds the whole new text, its other deltas are empty.
   * Null if something was changed that no event holds, if the stream cannot be read, or if its events repeat the content too often.
   */
  withBody(changed: JsonObject): string | null {
    if (this.body === null) return null;
    removeRepeats(changed);
    const old = textsOf(this.#format, this.body);
    const texts = textsOf(this.#format, changed);
    // Compared once, because a comparison for each piece of a text would take quadratic time.
    const unchanged = new Set([...texts].filter(([key, text]) => text === old.get(key)).map(([key]) => key));
    const written = new Set<string>();
    const next: NextText = (key, piece) => {
      if (piece === '' || unchanged.has(key)) return piece;
      const given = written.has(key) ? '' : (texts.get(key) ?? '');
      written.add(key);
      return given;
    };
    const name = contentOf[this.#format];
    const rewrite = rewriters[this.#format](objectsIn(changed[name]), next);
    const rewriteOuter = outerRewriter(this.#format, this.body, changed);
    const frameOf = ({ frame, json }: HeldEvent): string => {
      if (json === null) return frame;
      const given = this.#format === 'chat' ? withMessages(json, old, texts) : json;
      const rewritten = rewriteOuter(rewrite(given));
      removeRepeats(rewritten);
      return withData(frame, JSON.stringify(rewritten));
    };
    let left = growthMax * (this.#length + JSON.stringify(changed[name]).length);
    const frames: string[] = [];
    for (const event of this.#events) {
      const frame = frameOf(event);
      left -= frame.length;
      if (left < 0) return null;
      frames.push(frame);
    }
    const stream = frames.join('');
    // An old text may remain in an event that is not rewritten, such as the first one of a part. It must not be sent.
    const sent = new HeldStream(this.#format, stream).body;
    const isSent = [name, ...changedMembers(this.body, changed)].every((one) => isDeepStrictEqual(sent?.[one], changed[one]));
    return isSent ? stream : null;
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
      const text = stringOf(holder[field]);
      if (key !== null) joined.set(key, stringOf(joined.get(key)) + text);
      else if (field !== 'content' || !repeats.has(holder)) whole.push(text);
    }
  }
  const others = new Set([...joined.values(), ...whole]);
  others.delete('');
  if (isObject(body.stop_details)) others.delete(stringOf(body.stop_details.explanation));
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
