import { Utf8Stream } from '../../../core/contract/values/text/utf8-stream.ts';

/**
 * Cuts an event stream into frames without their blank line. Line breaks become LF: a client may take a single CR as a line break too, so
 * all readers of a frame must agree. Each byte is searched once, however small the chunks of a long event are.
 */
export class Frames {
  readonly #text = new Utf8Stream();
  /** The unfinished frame, joined when it is complete. */
  #parts: string[] = [];
  #endsInBreak = false;
  #endsInReturn = false;

  push(chunk: Uint8Array): string[] {
    const text = this.#lines(this.#text.push(chunk));
    if (text === '') return [];
    const isComplete = text.includes('\n\n') || (this.#endsInBreak && text.startsWith('\n'));
    this.#parts.push(text);
    this.#endsInBreak = text.endsWith('\n');
    if (!isComplete) return [];
    const frames = this.#parts.join('').split(/\n\n+/);
    const rest = frames.pop() as string;
    this.#parts = rest === '' ? [] : [rest];
    this.#endsInBreak = rest.endsWith('\n');
    return frames.filter((frame) => frame !== '');
  }

  /** Takes out the unfinished frame at the end of the stream; empty if there is none. */
  rest(): string {
    const last = this.#parts.join('') + this.#lines(this.#text.end());
    this.#parts = [];
    return last.replace(/(?<!\n)\n+$/, '');
  }

  /** A CR at the end of a chunk is a line break already; a LF that follows it belongs to it. */
  #lines(text: string): string {
    const given = this.#endsInReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#endsInReturn = text.endsWith('\r');
    return given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given;
  }
}
