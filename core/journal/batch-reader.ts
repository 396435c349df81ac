import { type FileHandle, open } from 'node:fs/promises';
import type { Segment } from './segment.ts';

/** Whole lines of one segment as a JSON array, ready to be sent. */
export interface Batch {
  readonly segment: Segment;
  /** The reader owns the buffer. It is valid until the next `read`. */
  readonly body: Uint8Array;
  readonly records: number;
  /** Offset up to which the segment is confirmed when this batch is confirmed. */
  readonly endBytes: number;
}

const newline = 0x0a;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;

const batchBytesMax = 1024 * 1024;

/** Reads segments in large pieces. Lines are not parsed. Their newlines are replaced by the commas of the array, in place. */
export class BatchReader {
  readonly #buffer = Buffer.allocUnsafe(batchBytesMax);
  #file: FileHandle | null = null;
  #segment: Segment | null = null;

  constructor() {
    this.#buffer[0] = openBracket;
  }

  /** Returns the next lines, at most `recordsMax`. Null if the rest of the segment holds no whole line. */
  async read(segment: Segment, recordsMax: number): Promise<Batch | null> {
    const file = await this.#fileOf(segment);
    const buffer = this.#buffer;
    const wanted = Math.min(segment.bytes - segment.shippedBytes, buffer.length - 1);
    const { bytesRead } = await file.read(buffer, 1, wanted, segment.shippedBytes);
    const filled = buffer.subarray(0, 1 + bytesRead);
    let records = 0;
    let last = 0;
    while (records < recordsMax) {
      const next = filled.indexOf(newline, last + 1);
      if (next === -1) break;
      if (last > 0) buffer[last] = comma;
      last = next;
      records += 1;
    }
    if (records === 0) return null;
    buffer[last] = closeBracket;
    return { segment, body: buffer.subarray(0, last + 1), records, endBytes: segment.shippedBytes + last };
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#segment = null;
    await file?.close();
  }

  async #fileOf(segment: Segment): Promise<FileHandle> {
    if (this.#file !== null && this.#segment === segment) return this.#file;
    await this.close();
    this.#file = await open(segment.path, 'r');
    this.#segment = segment;
    return this.#file;
  }
}
