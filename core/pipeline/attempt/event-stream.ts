import { createParser, type EventSourceParser } from 'eventsource-parser';
import type {
  StreamDecoder,
  StreamDecoding,
  StreamEvent,
  StreamReader,
  StreamTranslator,
} from '../../contract/provider/stream-event.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';
import { EventFrames, eventBytesMax } from '../../contract/values/text/event-frames.ts';
import { eventText, linesOf } from '../../contract/values/text/event-text.ts';
import { GrowthLimit } from '../../contract/values/text/growth-limit.ts';
import { RepeatedEvents } from './repeated-events.ts';

/**
 * Reads a provider's event stream. Without a translator the client gets the provider's bytes, and the stream is only read. With a
 * translator `push` returns the text for the client. Events that the translator leaves unchanged keep their own text, and comments
 * keep theirs.
 */
export class EventStream {
  readonly #reader: StreamReader;
  readonly #translator: StreamTranslator | null;
  readonly #parser: EventSourceParser;
  readonly #decoder: StreamDecoder | null;
  readonly #frames: EventFrames;
  /** True if the client gets the provider's bytes. */
  readonly #isRead: boolean;
  /** True if events that repeat one that was sent unchanged are sent unchanged too. */
  readonly #keepsRepeats: boolean;
  /** Null while every event must be parsed: until the reader names members that it does not use. */
  #repeats: RepeatedEvents | null = null;
  /** True if the last frame had an event that is a JSON object. The reader has not read others, such as one with a damaged text. */
  #isObject = false;
  /** Events seen so far. */
  count = 0;
  /** Frames without an event, such as comments, seen so far. */
  emptyCount = 0;
  /** Events that the translator has returned for them. */
  translatedCount = 0;
  /** Text of the events of the last chunk; if `push` has thrown, of those before the event that it threw for. */
  unsent = '';
  /** True if the translator returned no event for the one with the provider's error. Null while there is no error, or no translator. */
  isErrorLost: boolean | null = null;
  /** True if no event came before the one with the provider's error. Null while there is no error. */
  isErrorFirst: boolean | null = null;
  /** Text for the client; null while the current frame has held no event. */
  #out: string | null = null;
  readonly #growth: GrowthLimit;
  readonly #onGrow: (length: number) => void;
  #translatedBytes = 0;

  /**
   * `decoding` reads providers whose streams are not server-sent events; they need a translator. `onGrow` is called with the bytes
   * that an unfinished event adds to what the stream holds at most, and with those of a translated stream beyond its first 32 MiB.
   */
  constructor(
    reader: StreamReader,
    translator: StreamTranslator | null,
    decoding: StreamDecoding | null = null,
    onGrow: (length: number) => void = () => {},
  ) {
    this.#decoder = decoding?.create(onGrow) ?? null;
    this.#frames = new EventFrames(onGrow);
    this.#onGrow = onGrow;
    this.#reader = reader;
    this.#translator = translator;
    this.#growth = new GrowthLimit(() => translator?.repeatedOfRequest?.() ?? 0);
    this.#isRead = translator === null && decoding === null;
    this.#keepsRepeats = this.#isRead || (decoding === null && translator?.keepsRepeats === true);
    this.#parser = createParser({
      onEvent: ({ event = null, data }) => {
        if (event !== null && this.#isRead && reader.unread?.has(event) && data.startsWith(`{"type":"${event}"`)) this.count++;
        else this.#take({ event, data: parseData(data) });
      },
    });
  }

  /** True if the bytes so far end with an event. */
  get endsWithEvent(): boolean {
    return this.#frames.isEmpty;
  }

  /**
   * Returns the text to send for this chunk, always empty without a translator. Throws GatewayError `upstream_invalid` for an
   * event that is too long or cannot be translated, such as one with an object where a text is expected, and for a stream that would
   * become far longer.
   */
  push(chunk: Uint8Array): string {
    this.#growth.read(chunk.length);
    try {
      if (this.#translator) this.#hold(chunk.length);
      if (this.#decoder) return this.#decoded(this.#decoder.push(chunk));
      if (!this.#isRead) return this.#through(chunk);
      this.#look(chunk);
      return '';
    } catch (thrown) {
      throw toGatewayError(thrown, 'upstream_invalid');
    }
  }

  /** Counts what a translator may store of the stream, such as texts and ids that a later event repeats: at most all of it. */
  #hold(length: number): void {
    this.#translatedBytes += length;
    if (this.#translatedBytes > eventBytesMax) this.#onGrow(length);
  }

  #through(chunk: Uint8Array): string {
    this.unsent = '';
    for (const frame of this.#frames.push(chunk)) this.unsent += this.#next(frame);
    return this.unsent;
  }

  /** Reads the events of a chunk whose bytes pass, except those that repeat the previous one. */
  #look(chunk: Uint8Array): void {
    const skipped = this.#frames.isEmpty ? (this.#repeats?.skip(chunk, this.#onRepeat) ?? 0) : 0;
    if (skipped === chunk.length) return;
    for (const frame of this.#frames.push(skipped === 0 ? chunk : chunk.subarray(skipped))) this.#next(frame);
  }

  /** Returns the text to send for a frame. Only counts the event if it repeats the previous one, and that one was sent unchanged. */
  #next(frame: string): string {
    if (this.#repeats?.matches(frame)) {
      this.count++;
      if (this.#translator) this.translatedCount++;
      return frame;
    }
    const before = this.count;
    this.#isObject = false;
    const text = this.#frame(frame);
    const { unused } = this.#reader;
    if (!this.#keepsRepeats || unused === undefined) return text;
    this.#repeats ??= new RepeatedEvents(unused);
    const isOne = this.#isObject && this.count === before + 1;
    if (isOne && (this.#isRead || this.#out === sameText)) this.#repeats.learn(frame);
    else this.#repeats.forget();
    return text;
  }

  readonly #onRepeat = (): void => {
    this.count++;
  };

  /** Returns the text to send after the provider's last byte. Throws as `push` does. */
  end(): string {
    try {
      return this.#end();
    } catch (thrown) {
      throw toGatewayError(thrown, 'upstream_invalid');
    }
  }

  #end(): string {
    if (this.#decoder) return this.#decoded(this.#decoder.end()) + this.#lastEvents();
    // A last event without its blank line counts: otherwise its content would be lost.
    const last = this.#frames.rest();
    const sent = last === '' ? '' : this.#frame(`${last}\n\n`);
    return this.#translator ? sent + this.#lastEvents() : '';
  }

  #decoded(events: readonly StreamEvent[]): string {
    this.unsent = '';
    for (const event of events) {
      this.#out = null;
      this.#take(event);
      if (this.#out !== null) this.unsent += this.#out === sameText ? eventText(event.data, event.event) : this.#out;
    }
    return this.unsent;
  }

  #lastEvents(): string {
    let sent = '';
    for (const event of this.#translator?.end() ?? []) sent += this.#write(event);
    return sent;
  }

  #write({ data, event }: StreamEvent): string {
    return this.#growth.write(eventText(data, event));
  }

  #frame(text: string): string {
    this.#out = null;
    const before = this.count;
    if (text.length >= eventCharsMin) this.#feed(text);
    if (this.count === before) this.emptyCount++;
    if (this.#out === sameText) return text;
    return this.#out ?? (this.#translator ? commentsIn(text) : text);
  }

  /**
   * Passes a frame to the parser in slices of whole lines. For each line the parser searches all text that it is given for CR and LF, so
   * that a frame of 1 MB with short lines would take four seconds. A single long line stays in one slice.
   */
  #feed(frame: string): void {
    const text = isFewLines(frame) || !unread.test(frame) ? frame : readLines(frame);
    if (text.length > readLinesMax) requireFewLines(text);
    // Without this, the parser would wait for the next frame, because its first character may belong to this line end.
    if (text.length <= sliceChars) return this.#parser.feed(text.endsWith('\r') ? `${text}\n` : text);
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf('\n', from + sliceChars) + 1 || lines.length;
      this.#parser.feed(lines.slice(from, end));
      from = end;
    }
  }

  #take(event: StreamEvent): void {
    this.count++;
    this.#isObject = typeof event.data !== 'string';
    this.#reader.push(event);
    if (this.isErrorFirst === null && this.#reader.error?.()) this.isErrorFirst = this.count === 1;
    if (!this.#translator) return;
    const translated = this.#translator.push(event);
    this.translatedCount += translated.length;
    if (this.isErrorLost === null && this.#reader.error?.()) this.isErrorLost = translated.length === 0;
    if (translated.length === 1 && translated[0] === event && this.#out === null) {
      this.#out = sameText;
      return;
    }
    this.#out = this.#out === null || this.#out === sameText ? '' : this.#out;
    for (const item of translated) this.#out += this.#write(item);
  }
}

/**
 * Returns the comments of a frame without an event. Its other lines, such as `retry:`, concern the connection to the provider. OpenAI's
 * Python client takes them for an event without data and fails.
 */
function commentsIn(frame: string): string {
  if (frame.length > commentCharsMax) return ':\n\n';
  const comments = linesOf(frame).filter((line) => line.startsWith(':'));
  return comments.length === 0 ? '' : `${comments.join('\n')}\n\n`;
}

/** A frame of more characters without an event may have millions of comments. One keeps the connection of the client open. */
const commentCharsMax = 64 * 1024;

/** True for nearly all frames: a line of data, and perhaps one with the name of the event. The expression below takes longer. */
function isFewLines(frame: string): boolean {
  if (frame.includes('\r')) return false;
  let at = 0;
  for (let lines = 0; lines < 2 && (frame.startsWith('data:', at) || frame.startsWith('event:', at)); lines++) {
    at = frame.indexOf('\n', at) + 1;
    if (at === frame.length - 1) return true;
  }
  return false;
}

/** Matches the beginning of a line that is neither empty nor `data` or `event`. */
const unread = /(?:^|[\r\n])(?!\ufeff?(?:data|event)(?:[:\r\n]|$)|[\r\n]|$)/;
/** Matches each line of `data` or `event`. */
const readLine = /(?<![^\r\n])\ufeff?(?:data|event)(?=[:\r\n]|$)[^\r\n]*/g;

/**
 * Returns a frame without the lines that have no effect here. The parser takes 10 µs for each unknown field, for an error with a stack. Neither
 * splits the frame nor replaces its line ends: 32 MiB have room for 16 million comments, and to replace as many CR takes nine seconds.
 */
function readLines(frame: string): string {
  const read: string[] = [];
  for (const [line] of frame.matchAll(readLine)) if (read.push(line) > readLinesMax) throw tooManyLines();
  return `${read.join('\n')}\n\n`;
}

/** Maximum number of lines of an event, besides those without effect. The parser takes two seconds for the six million that 32 MiB can have. */
const readLinesMax = 100_000;

function requireFewLines(text: string): void {
  const end = text.includes('\r') ? /\r\n?|\n/g : /\n/g;
  for (let lines = 0; end.test(text); ) if (++lines > readLinesMax) throw tooManyLines();
}

function tooManyLines(): GatewayError {
  return new GatewayError('upstream_invalid', { message: `The provider sent a stream event of more than ${readLinesMax} lines` });
}

/** Length of the shortest event: `data` and a blank line. Providers may send line ends alone, half a million in 1 MB. */
const eventCharsMin = 6;

/** Length of a slice for the parser, without the rest of its last line. */
const sliceChars = 4096;

/** Marks a frame whose event the translator did not change. No encoded event has this text. */
const sameText = '\0same';

function parseData(text: string): StreamEvent['data'] {
  if (text.charCodeAt(0) !== 123) return text;
  if (hasTooManyValues(text))
    throw new GatewayError('upstream_invalid', { message: `A stream event of the provider has ${tooManyValues}` });
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}
