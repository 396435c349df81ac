import { GatewayError } from '../../values/errors.ts';
import { parseObject } from '../../values/json.ts';
import type { EventRewriter } from './rewrite-events.ts';

/** Maximum characters of one event. */
const eventCharactersMax = 16 * 1024 * 1024;

/** Rewrites the bytes of a stream of events, which may be split anywhere. */
export class StreamRewriter {
  readonly #events: EventRewriter;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #buffer = '';

  constructor(events: EventRewriter) {
    this.#events = events;
  }

  /** Returns the bytes to send; null if no event is complete. Throws GatewayError for an event that is too large. */
  next(chunk: Uint8Array): Uint8Array | null {
    this.#buffer += this.#decoder.decode(chunk, { stream: true });
    let sent = '';
    for (;;) {
      const found = /\r\n\r\n|\n\n|\r\r/.exec(this.#buffer);
      if (!found) break;
      const end = found.index + found[0].length;
      sent += this.#rewriteFrame(this.#buffer.slice(0, found.index), found[0]);
      this.#buffer = this.#buffer.slice(end);
    }
    // Some providers end the stream without the blank line behind the end mark.
    if (/^data: ?\[DONE\]\r?\n$/.test(this.#buffer)) {
      sent += this.#rewriteFrame(this.#buffer.trimEnd(), '\n\n');
      this.#buffer = '';
    }
    if (this.#buffer.length > eventCharactersMax)
      throw new GatewayError('upstream_invalid', { message: 'An event of the reply is too large to be rewritten' });
    return sent === '' ? null : Buffer.from(sent);
  }

  #rewriteFrame(frame: string, end: string): string {
    const lines = frame.split(/\r\n|\n|\r/);
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
    if (data.length === 0) return frame + end;
    const text = data.join('\n');
    if (text === '[DONE]') return this.#events.end().map(toFrame).join('') + frame + end;
    const event = parseObject(text);
    if (event === null) return frame + end;
    const before = this.#events.rewrite(event);
    const others = lines.filter((line) => !line.startsWith('data:'));
    return before.map(toFrame).join('') + [...others, `data: ${JSON.stringify(event)}`].join('\n') + end;
  }
}

/** An event that is added. Events with a type also have it as their name. */
function toFrame(event: Readonly<Record<string, unknown>>): string {
  const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
