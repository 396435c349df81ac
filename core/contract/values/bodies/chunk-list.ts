/** Chunks below this size are copied into blocks, if there are many. */
const smallBytes = 64;
/** Number of chunks that are always stored as they are. Ordinary bodies have larger chunks, or fewer. */
const separateMax = 64;
const blockBytes = 16 * 1024;
const noBytes = new Uint8Array(0);
const none: readonly Uint8Array[] = [];

/**
 * The chunks of a body in their order, first in, first out. The sender of a body chooses the size of its chunks. A buffer of one byte takes
 * about 200 bytes, and the first element of a long array is removed in linear time, so 4 MB in chunks of one byte would take 1 GB or a minute.
 * Many small chunks are therefore joined.
 */
export class ChunkList {
  /** Bytes of all chunks. */
  bytes = 0;
  #chunks: Uint8Array[] = [];
  /** Index of the first chunk that has not been removed. */
  #first = 0;
  #block: Uint8Array = noBytes;
  /** The part of the block that holds small chunks and is not in `#chunks` yet. */
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#chunks.length - this.#first + (this.#to > this.#from ? 1 : 0);
  }

  /** Adds a chunk. `isBorrowed`: its bytes are valid in this call only. */
  push(chunk: Uint8Array, isBorrowed = false): void {
    if (chunk.length === 0) return;
    this.bytes += chunk.length;
    if (chunk.length < smallBytes && this.length >= separateMax) return this.#join(chunk);
    this.#closeBlock();
    this.#chunks.push(isBorrowed ? Buffer.from(chunk) : chunk);
  }

  /** Removes and returns the first chunk. */
  shift(): Uint8Array | undefined {
    if (this.#first === this.#chunks.length) this.#closeBlock();
    const chunk = this.#chunks[this.#first];
    if (chunk === undefined) return undefined;
    this.#chunks[this.#first] = noBytes;
    this.#first++;
    this.bytes -= chunk.length;
    if (this.#first === this.#chunks.length) {
      this.#chunks.length = 0;
      this.#first = 0;
    } else if (2 * this.#first >= this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    }
    return chunk;
  }

  /** The chunks as they are now. */
  all(): readonly Uint8Array[] {
    this.#closeBlock();
    return this.#first === 0 ? this.#chunks : this.#chunks.slice(this.#first);
  }

  /** Removes and returns all chunks. */
  take(): readonly Uint8Array[] {
    const chunks = this.all();
    if (chunks.length === 0) return none;
    this.#chunks = [];
    this.#first = 0;
    this.bytes = 0;
    return chunks;
  }

  /** All bytes: those of the only chunk, or a copy. */
  concat(): Uint8Array {
    const chunks = this.all();
    return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, this.bytes);
  }

  #join(chunk: Uint8Array): void {
    if (this.#to + chunk.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.#from = 0;
      this.#to = 0;
    }
    this.#block.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  #closeBlock(): void {
    if (this.#to === this.#from) return;
    this.#chunks.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}
