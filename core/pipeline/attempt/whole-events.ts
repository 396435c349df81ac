import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import { asBuffer } from '../../contract/values/text/utf8.ts';

/**
 * Holds back the beginning of an event until its end is here. If the stream breaks off within an event, the error event of the gateway then
 * follows a whole event. Clients would read both as one event, and fail on its data instead of reporting the error.
 */
export class WholeEvents {
  readonly #held = new ChunkList();
  /** The last three bytes before the next chunk, because chunks may split a blank line. */
  #tail = noBytes;

  /** Returns the bytes up to the last whole event, or null if there are none. `endsWithEvent`: the chunk is known to end with one. */
  push(chunk: Uint8Array, endsWithEvent: boolean): Uint8Array | null {
    const end = endsWithEvent ? chunk.length : this.#endIn(asBuffer(chunk));
    this.#tail = endsWithEvent ? noBytes : Buffer.concat([this.#tail, chunk.subarray(-3)]).subarray(-3);
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    const bytes = end > 0 && this.#held.length > 0 ? Buffer.concat([this.rest(), whole]) : whole;
    if (end < chunk.length) this.#held.push(chunk.subarray(end));
    return end === 0 ? null : bytes;
  }

  /** Removes and returns the bytes that are held. */
  rest(): Uint8Array {
    const bytes = this.#held.concat();
    this.#held.take();
    return bytes;
  }

  #endIn(chunk: Buffer): number {
    const end = lastEnd(chunk);
    if (end > 0 || this.#tail.length === 0) return end;
    return Math.max(0, lastEnd(Buffer.concat([this.#tail, chunk.subarray(0, 3)])) - this.#tail.length);
  }
}

const noBytes: Buffer = Buffer.alloc(0);

/** Blank lines behind a line end. Line ends are LF, CR LF and CR. */
const blankLines = ['\n\n', '\n\r\n', '\r\r\n', '\n\r', '\r\r'];

/** Returns the index after the last blank line, or 0. */
function lastEnd(bytes: Buffer): number {
  let end = 0;
  for (const line of bytes.includes('\r') ? blankLines : blankLines.slice(0, 1)) {
    const at = bytes.lastIndexOf(line);
    if (at !== -1) end = Math.max(end, at + line.length);
  }
  return end;
}
