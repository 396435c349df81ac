import { GatewayError } from '../../values/errors/errors.ts';
import { parseObject } from '../../values/json/json.ts';
import { Utf8Stream } from '../../values/text/utf8-stream.ts';
import type { EventRewriter } from './rewrite-events.ts';

/** Maximum characters of one event. */
const eventCharactersMax = 16 * 1024 * 1024;

const blankLine = /\r\n\r\n|\n\n|\r\r/;
/** Characters of the longest end mark. */
const endMarkMax = 'data: [DONE]\r\n'.length;

/** Rewrites the bytes of a stream of events, which may be split anywhere. */
export class StreamRewriter {
  readonly #events: EventRewriter;
  readonly #decoder = new Utf8Stream({ ignoreBOM: true });
  /** Text of an event that is not complete. It is joined once, so that a large event in small chunks costs no more than its length. */
  #pending: string[] = [];
  #pendingLength = 0;
  /** The last characters of it: the blank line that ends an event may be split over chunks. */
  #tail = '';

  constructor(events: EventRewriter) {
    this.#events = events;
  }

  /** Returns the bytes to send; null if no event is complete. Throws GatewayError for an event that cannot be rewritten. */
  next(chunk: Uint8Array): Uint8Array | null {
    const text = this.#decoder.push(chunk);
    const probe = this.#tail + text;
    this.#pending.push(text);
    this.#pendingLength += text.length;
    this.#tail = probe.slice(-3);
    if (!blankLine.test(probe) && this.#pendingLength > endMarkMax) {
      this.#checkLength();
      return null;
    }
    let rest = this.#pending.join('');
    let sent = '';
    for (let found = blankLine.exec(rest); found; found = blankLine.exec(rest)) {
      sent += this.#rewriteFrame(rest.slice(0, found.index), found[0]);
      rest = rest.slice(found.index + found[0].length);
    }
    // Some providers end the stream without the blank line behind the end mark.
    if (/^data: ?\[DONE\]\r?\n$/.test(rest)) {
      sent += this.#rewriteFrame(rest.trimEnd(), '\n\n');
      rest = '';
    }
    this.#pending = rest === '' ? [] : [rest];
    this.#pendingLength = rest.length;
    this.#tail = rest.slice(-3);
    this.#checkLength();
    return sent === '' ? null : Buffer.from(sent);
  }

  #checkLength(): void {
    if (this.#pendingLength > eventCharactersMax)
      throw new GatewayError('upstream_invalid', { message: 'An event of the reply is too large to be rewritten' });
  }

  #rewriteFrame(frame: string, end: string): string {
    const lines = frame.split(/\r\n|\n|\r/);
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
    const text = data.join('\n');
    if (text === '') return frame + end;
    if (text === '[DONE]') return this.#events.end().map(toFrame).join('') + frame + end;
    const event = parseObject(text);
    if (event === null)
      throw new GatewayError('upstream_invalid', {
        message: 'An event of the reply is not JSON, so that its text cannot be rewritten',
      });
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
