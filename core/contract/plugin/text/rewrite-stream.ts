import { GatewayError } from '../../values/errors/errors.ts';
import { parseObject } from '../../values/json/json.ts';
import { EventFrames } from '../../values/text/event-frames.ts';
import { dataOf, hasMarkedLine, typedEvent, withData } from '../../values/text/event-text.ts';
import { GrowthLimit } from '../../values/text/growth-limit.ts';
import type { EventRewriter } from './rewrite-events.ts';

/** Characters of the longest end mark. */
const endMarkMax = 'data: [DONE]\r\n'.length;

/** Rewrites the bytes of a stream of events, which may be split anywhere. */
export class StreamRewriter {
  readonly #events: EventRewriter;
  readonly #frames = new EventFrames();
  readonly #growth = new GrowthLimit();

  constructor(events: EventRewriter) {
    this.#events = events;
  }

  /** Returns the bytes to send; null if no event is complete. Throws GatewayError for an event that cannot be rewritten, and for a stream that would become far longer. */
  next(chunk: Uint8Array): Uint8Array | null {
    this.#growth.read(chunk.length);
    let sent = '';
    for (const frame of this.#frames.push(chunk)) sent += this.#rewriteFrame(frame);
    // Hooks are not called at the end of a stream: the last event would never be sent.
    const ended = this.#frames.ended();
    if (ended !== '') sent += this.#rewriteFrame(ended);
    // Some providers end the stream without the blank line behind the end mark.
    if (/^data: ?\[DONE\]\r?\n$/.test(this.#frames.unfinished(endMarkMax) ?? '')) {
      sent += this.#rewriteFrame(`${this.#frames.rest()}\n`);
    }
    return sent === '' ? null : Buffer.from(sent);
  }

  #rewriteFrame(frame: string): string {
    if (hasMarkedLine(frame)) throw unreadable();
    const text = dataOf(frame)?.trimStart() ?? '';
    if (text === '') return frame;
    if (text === '[DONE]') return this.#events.end().map(typedEvent).join('') + frame;
    const event = parseObject(text);
    if (event === null) throw unreadable();
    const before = this.#events.rewrite(event).map(typedEvent).join('');
    return this.#growth.write(before + withData(frame, JSON.stringify(event)));
  }
}

function unreadable(): GatewayError {
  return new GatewayError('upstream_invalid', {
    message: 'An event of the reply cannot be read, so that its text cannot be rewritten',
  });
}
