import { ChunkList } from '../bodies/chunk-list.ts';
import { GatewayError } from '../errors/errors.ts';
import { Utf8Stream } from './utf8-stream.ts';

/** Maximum length of an event in bytes. Providers send whole images in one event. */
export const eventBytesMax = 32 * 1024 * 1024;

/** Events up to this length are decoded as they arrive, and are not reported to `onGrow`. */
const ordinaryLength = 64 * 1024;

/**
 * Cuts an event stream into frames of text, each with its blank line. Each byte is searched once, even if a long event arrives in
 * small chunks. A long event is stored as bytes until it is complete, because the garbage collector would copy text. `onGrow` is
 * called with the growth of an unfinished frame beyond the longest one so far, from 64 Ki on.
 */
export class EventFrames {
  readonly #onGrow: (length: number) => void;
  readonly #text = new Utf8Stream();
  /** The decoded part of the unfinished frame, joined when it is complete. */
  #parts: string[] = [];
  /** The bytes of a long frame that follow `#parts`, not decoded. */
  readonly #bytes = new ChunkList();
  /** Length of the unfinished frame: the decoded part in characters, the rest in bytes. */
  #length = 0;
  #longest = ordinaryLength;
  /** The last three characters of the unfinished frame, because chunks may split a blank line. */
  #tail = '';

  constructor(onGrow: (length: number) => void = () => {}) {
    this.#onGrow = onGrow;
  }

  /** True if no frame is unfinished. */
  get isEmpty(): boolean {
    return this.#length === 0 && !this.#text.isSplit;
  }

  /** Returns the frames that are complete with this chunk. Throws GatewayError `upstream_invalid` for an event of over 32 MiB. */
  push(chunk: Uint8Array): string[] {
    if (this.#length > ordinaryLength && !this.#endsIn(chunk)) {
      this.#bytes.push(chunk);
      this.#grow(chunk.length);
      return [];
    }
    this.#decodeHeld();
    const frames: string[] = [];
    let more = this.#text.push(chunk);
    if (this.#length > 0) {
      const end = new FrameEnds(this.#tail + more).next() - this.#tail.length;
      if (end < 0) {
        this.#keep(more);
        return frames;
      }
      this.#parts.push(more.slice(0, end));
      frames.push(this.#take());
      more = more.slice(end);
    }
    const rest = cutInto(frames, more);
    if (rest !== '') this.#keep(rest);
    return frames;
  }

  /** Returns the unfinished frame if it has at most this many characters, and null otherwise. */
  unfinished(charactersMax: number): string | null {
    return this.#length > charactersMax ? null : this.#parts.join('');
  }

  /** Removes and returns the unfinished frame if only an LF may follow that belongs to its last CR. Empty otherwise. */
  ended(): string {
    return /[\r\n]\r$/.test(this.#tail) ? this.#take() : '';
  }

  /** Removes and returns the unfinished frame at the end of the stream. */
  rest(): string {
    this.#decodeHeld();
    return this.#take() + this.#text.end();
  }

  /** True if a blank line ends in this chunk. Stores the last bytes in `#tail`. */
  #endsIn(chunk: Uint8Array): boolean {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const seam = this.#tail + bytes.toString('latin1', 0, 3);
    if (new FrameEnds(seam).next() !== -1 || bytes.includes('\n\n') || bytes.includes('\r')) return true;
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 3))).slice(-3);
    return false;
  }

  #decodeHeld(): void {
    for (const bytes of this.#bytes.take()) this.#parts.push(this.#text.push(bytes));
  }

  #take(): string {
    const text = this.#parts.join('');
    this.#parts = [];
    this.#length = 0;
    this.#tail = '';
    return text;
  }

  #keep(text: string): void {
    this.#parts.push(text);
    this.#tail = (this.#tail + text.slice(-3)).slice(-3);
    this.#grow(text.length);
  }

  #grow(length: number): void {
    this.#length += length;
    if (this.#length > eventBytesMax) {
      throw new GatewayError('upstream_invalid', {
        message: `The provider sent a stream event of more than ${eventBytesMax} bytes`,
      });
    }
    if (this.#length > this.#longest) {
      this.#onGrow(this.#length - this.#longest);
      this.#longest = this.#length;
    }
  }
}

/** Cuts a whole stream into frames. The last one may lack its blank line. */
export function framesOf(stream: string): string[] {
  const frames: string[] = [];
  const rest = cutInto(frames, stream.charCodeAt(0) === byteOrderMark ? stream.slice(1) : stream);
  return rest === '' ? frames : [...frames, rest];
}

/**
 * Yields the frames that are complete with each chunk of a stream. The last one may lack its blank line. To yield each frame would take ten
 * times as long for streams of short frames.
 */
export async function* framesIn(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const frames = new EventFrames();
  for await (const chunk of stream) yield frames.push(chunk);
  const rest = frames.rest();
  if (rest !== '') yield [rest];
}

const byteOrderMark = 0xfeff;

/** Adds the frames of a text to the list. Returns the text behind the last one. */
function cutInto(frames: string[], text: string): string {
  const ends = new FrameEnds(text);
  let from = 0;
  for (let end = ends.next(); end !== -1; end = ends.next()) {
    frames.push(text.slice(from, end));
    from = end;
  }
  return text.slice(from);
}

/** Line ends are CR LF, LF and CR, in any mixture. A CR at the end may be the first half of one, so it ends no frame yet. */
const blankLine = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?=[^\n]))/g;

/**
 * Finds the ends of frames in a text. They must be those of every client: a frame with a blank line inside would be read as one event here
 * and as several there. A search that finds nothing ahead is not repeated for the next frame: otherwise 1 MB of line ends would take half a
 * minute.
 */
class FrameEnds {
  readonly #text: string;
  #from = 0;
  /** Index of the next two LF; -1 if none follows. */
  #plain: number;
  /** Index of the next CR; -1 if none follows. */
  #carriage: number;

  constructor(text: string) {
    this.#text = text;
    this.#plain = text.indexOf('\n\n');
    this.#carriage = text.indexOf('\r');
  }

  /** Returns the index after the next blank line, or -1. */
  next(): number {
    if (this.#plain !== -1 && this.#plain < this.#from) this.#plain = this.#text.indexOf('\n\n', this.#from);
    if (this.#carriage !== -1 && this.#carriage < this.#from) this.#carriage = this.#text.indexOf('\r', this.#from);
    const plain = this.#plain;
    if (this.#carriage === -1 || (plain !== -1 && plain < this.#carriage)) {
      if (plain !== -1) this.#from = plain + 2;
      return plain === -1 ? -1 : this.#from;
    }
    blankLine.lastIndex = this.#from;
    if (!blankLine.test(this.#text)) return -1;
    this.#from = blankLine.lastIndex;
    return this.#from;
  }
}
