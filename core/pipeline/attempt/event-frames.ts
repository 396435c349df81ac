import { GatewayError } from '../../contract/values/errors.ts';

/** Longest event in UTF-16 code units: providers send whole images in one event. */
export const eventLengthMax = 32 * 1024 * 1024;

/** Events up to this length are not reported to `onGrow`. */
const ordinaryLength = 64 * 1024;

/**
 * Cuts the text of an event stream into frames, each with its blank line. Each character is searched once, however small the chunks
 * of a long event are. `onGrow` is called with the growth of an unfinished frame beyond the longest one so far, in code units,
 * from 64 Ki on.
 */
export class EventFrames {
  readonly #onGrow: (length: number) => void;
  /** The unfinished frame, joined when it is complete. */
  #parts: string[] = [];
  #length = 0;
  #longest = ordinaryLength;
  /** Its last three characters: a blank line may be cut anywhere. */
  #tail = '';

  constructor(onGrow: (length: number) => void) {
    this.#onGrow = onGrow;
  }

  /** True if no frame is unfinished. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** The frames that are complete with this text. Throws GatewayError `upstream_invalid` for an event of over 32 Mi characters. */
  push(text: string): string[] {
    const frames: string[] = [];
    let rest = text;
    if (this.#length > 0) {
      const end = frameEnd(this.#tail + rest) - this.#tail.length;
      if (end < 0) {
        this.#keep(rest);
        return frames;
      }
      this.#parts.push(rest.slice(0, end));
      frames.push(this.rest());
      rest = rest.slice(end);
    }
    for (let end = frameEnd(rest); end !== -1; end = frameEnd(rest)) {
      frames.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    if (rest !== '') this.#keep(rest);
    return frames;
  }

  /** Takes out the unfinished frame. */
  rest(): string {
    const text = this.#parts.join('');
    this.#parts = [];
    this.#length = 0;
    this.#tail = '';
    return text;
  }

  #keep(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
    this.#tail = (this.#tail + text.slice(-3)).slice(-3);
    if (this.#length > eventLengthMax) {
      throw new GatewayError('upstream_invalid', {
        message: `The provider sent a stream event of more than ${eventLengthMax} characters`,
      });
    }
    if (this.#length > this.#longest) {
      this.#onGrow(this.#length - this.#longest);
      this.#longest = this.#length;
    }
  }
}

/** Index behind the first blank line; -1 if there is none. */
function frameEnd(text: string): number {
  const plain = text.indexOf('\n\n');
  const windows = text.indexOf('\r\n\r\n');
  if (windows !== -1 && (plain === -1 || windows < plain)) return windows + 4;
  return plain === -1 ? -1 : plain + 2;
}
