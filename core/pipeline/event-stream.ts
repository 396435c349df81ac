import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isObject } from '../contract/json.ts';
import type { StreamEvent, StreamReader, StreamTranslator } from '../contract/provider.ts';

/**
 * Reads a provider's event stream as it passes. Without a translator the client gets the provider's bytes and this only looks
 * on; with one, `push` returns the text that goes to the client instead.
 */
export class EventStream {
  readonly #reader: StreamReader;
  readonly #translator: StreamTranslator | null;
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder('utf-8');
  #out = '';

  constructor(reader: StreamReader, translator: StreamTranslator | null) {
    this.#reader = reader;
    this.#translator = translator;
    this.#parser = createParser({ onEvent: (event) => this.#take({ event: event.event ?? null, data: parseData(event.data) }) });
  }

  /** The text to send for this chunk; always empty without a translator. */
  push(chunk: Uint8Array): string {
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** What is owed after the provider's last byte. */
  end(): string {
    // A last event without its blank line is still an event to a reader that is about to lose it.
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    for (const event of this.#translator?.end() ?? []) this.#out += encodeEvent(event);
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #take(event: StreamEvent): void {
    this.#reader.push(event);
    if (!this.#translator) return;
    for (const translated of this.#translator.push(event)) this.#out += encodeEvent(translated);
  }
}

/** One event as it travels (HTML standard, server-sent events). JSON never holds a line break, so one `data:` line does. */
export function encodeEvent(event: StreamEvent): string {
  const data = typeof event.data === 'string' ? event.data.replace(/\r\n|\r|\n/g, '\ndata: ') : JSON.stringify(event.data);
  return event.event === null ? `data: ${data}\n\n` : `event: ${event.event}\ndata: ${data}\n\n`;
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
