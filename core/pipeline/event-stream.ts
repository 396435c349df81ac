import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isObject } from '../contract/json.ts';
import type { StreamDecoder, StreamEvent, StreamReader, StreamTranslator } from '../contract/provider.ts';

/** Longest single event; a provider that never ends one does not get to fill the memory. */
const eventLengthMax = 32 * 1024 * 1024;

/**
 * Reads a provider's event stream as it passes. Without a translator the client gets the provider's bytes and this only looks
 * on; with one, `push` returns the text that goes to the client instead. Events that the translator leaves alone, and comments,
 * keep their own text.
 */
export class EventStream {
  readonly #reader: StreamReader;
  readonly #translator: StreamTranslator | null;
  readonly #parser: EventSourceParser;
  readonly #text = new TextDecoder('utf-8');
  readonly #frames: StreamDecoder | null;
  /** Events seen so far. */
  count = 0;
  #rest = '';
  /** Text that goes to the client, null while the frame at hand has held no event. */
  #out: string | null = null;

  /** `frames` reads providers whose streams are not server-sent events; they need a translator. */
  constructor(reader: StreamReader, translator: StreamTranslator | null, frames: StreamDecoder | null = null) {
    this.#frames = frames;
    this.#reader = reader;
    this.#translator = translator;
    this.#parser = createParser({ onEvent: (event) => this.#take({ event: event.event ?? null, data: parseData(event.data) }) });
  }

  /** The text to send for this chunk; always empty without a translator. Throws RangeError on an event without end. */
  push(chunk: Uint8Array): string {
    if (this.#frames) return this.#decoded(this.#frames.push(chunk));
    const text = this.#text.decode(chunk, { stream: true });
    if (!this.#translator) {
      this.#parser.feed(text);
      return '';
    }
    this.#rest = this.#rest === '' ? text : this.#rest + text;
    let sent = '';
    for (let end = frameEnd(this.#rest); end !== -1; end = frameEnd(this.#rest)) {
      sent += this.#frame(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end);
    }
    if (this.#rest.length > eventLengthMax) throw new RangeError('an event of the stream has no end');
    return sent;
  }

  /** What is owed after the provider's last byte. */
  end(): string {
    if (this.#frames) return this.#decoded(this.#frames.end()) + this.#owed();
    const last = this.#rest + this.#text.decode();
    this.#rest = '';
    // A last event without its blank line is still an event to a reader that is about to lose it.
    if (!this.#translator) {
      this.#parser.feed(`${last}\n\n`);
      return '';
    }
    return (last === '' ? '' : this.#frame(`${last}\n\n`)) + this.#owed();
  }

  #decoded(events: readonly StreamEvent[]): string {
    let sent = '';
    for (const event of events) {
      this.#out = null;
      this.#take(event);
      if (this.#out !== null) sent += this.#out === sameText ? encodeEvent(event) : this.#out;
    }
    return sent;
  }

  #owed(): string {
    let sent = '';
    for (const event of this.#translator?.end() ?? []) sent += encodeEvent(event);
    return sent;
  }

  #frame(text: string): string {
    this.#out = null;
    this.#parser.feed(text);
    return this.#out === null || this.#out === sameText ? text : this.#out;
  }

  #take(event: StreamEvent): void {
    this.count++;
    this.#reader.push(event);
    if (!this.#translator) return;
    const translated = this.#translator.push(event);
    if (translated.length === 1 && translated[0] === event && this.#out === null) {
      this.#out = sameText;
      return;
    }
    this.#out = this.#out === null || this.#out === sameText ? '' : this.#out;
    for (const item of translated) this.#out += encodeEvent(item);
  }
}

/** Marks a frame whose event came back from the translator as it was. No encoded event looks like this. */
const sameText = '\0same';

/** One event as it travels (HTML standard, server-sent events). JSON never holds a line break, so one `data:` line does. */
export function encodeEvent(event: StreamEvent): string {
  const data = typeof event.data === 'string' ? event.data.replace(/\r\n|\r|\n/g, '\ndata: ') : JSON.stringify(event.data);
  return event.event === null ? `data: ${data}\n\n` : `event: ${event.event}\ndata: ${data}\n\n`;
}

/** Where the first whole frame ends, blank line included; -1 when none is whole. */
function frameEnd(text: string): number {
  const plain = text.indexOf('\n\n');
  const windows = text.indexOf('\r\n\r\n');
  if (windows !== -1 && (plain === -1 || windows < plain)) return windows + 4;
  return plain === -1 ? -1 : plain + 2;
}

function parseData(text: string): StreamEvent['data'] {
  if (text.charCodeAt(0) !== 123) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}
