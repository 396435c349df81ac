const noBytes = new Uint8Array(0);
/** Initial size of the buffer that collects a body. */
const firstBufferBytes = 256 * 1024;
/**
 * Maximum size of a buffer that is replaced by one of twice its size. A larger body gets a buffer for all of it, because copying
 * 16 MB to double it blocks the process, and the operating system provides pages only when bytes arrive.
 */
const doubledBytesMax = 1024 * 1024;
/** Maximum size of a buffer that is not doubled, for a body of unknown length. */
const unknownLengthBytes = 64 * 1024 * 1024;

/** Collects a body in one buffer. Counts bytes as they arrive, not by the declared length. */
export class BodyCollector {
  readonly bytesMax: number;
  readonly reject: (error: Error) => void;
  private readonly length: number;
  private readonly resolve: (bytes: Uint8Array) => void;
  private readonly onGrow: ((bytes: number) => void) | undefined;
  private readonly onChunk: ((chunk: Uint8Array) => void) | undefined;
  private buffer: Uint8Array = noBytes;
  private used = 0;
  private counted = 0;
  /** Bytes that `onChunk` has processed. */
  private seen = 0;

  constructor(
    length: number,
    bytesMax: number,
    resolve: (bytes: Uint8Array) => void,
    reject: (error: Error) => void,
    onGrow: ((bytes: number) => void) | undefined,
    onChunk: ((chunk: Uint8Array) => void) | undefined,
  ) {
    this.length = length;
    this.bytesMax = bytesMax;
    this.resolve = resolve;
    this.reject = reject;
    this.onGrow = onGrow;
    this.onChunk = onChunk;
  }

  /** Stores a chunk. `borrowed`: its bytes are valid in this call only. Throws the error of `onGrow`. */
  add(chunk: Uint8Array, borrowed: boolean): void {
    if (chunk.length === 0) return;
    if (this.used === 0 && chunk.length === this.length && !borrowed) {
      this.onGrow?.(chunk.length);
      this.buffer = chunk;
      this.used = chunk.length;
      return;
    }
    const need = this.used + chunk.length;
    if (need > this.counted) this.count(need);
    if (need > this.buffer.length) this.grow(need);
    this.buffer.set(chunk, this.used);
    this.used = need;
  }

  /** True if `onChunk` has not processed all bytes. */
  get isBehind(): boolean {
    return this.onChunk !== undefined && this.seen < this.used;
  }

  /** Passes at most `bytesMax` stored bytes to `onChunk`. Returns true if there are more. Throws the error of `onChunk`. */
  look(bytesMax: number): boolean {
    if (!this.isBehind) return false;
    const to = Math.min(this.used, this.seen + bytesMax);
    this.onChunk?.(this.buffer.subarray(this.seen, to));
    this.seen = to;
    return this.isBehind;
  }

  private get limit(): number {
    return this.length > 0 ? this.length : this.bytesMax;
  }

  end(): void {
    this.resolve(this.used === this.buffer.length ? this.buffer : this.buffer.subarray(0, this.used));
  }

  /** Doubles the counted bytes, up to the length of the body. */
  private count(need: number): void {
    const first = this.length > 0 ? firstBufferBytes : need;
    const counted = Math.max(need, Math.min(this.counted === 0 ? first : this.counted * 2, this.limit));
    this.onGrow?.(counted - this.counted);
    this.counted = counted;
  }

  private grow(need: number): void {
    const known = this.length > 0 ? this.limit : Math.min(this.limit, unknownLengthBytes);
    const wanted = this.counted <= doubledBytesMax ? this.counted : Math.max(known, this.buffer.length * 2);
    const grown = Buffer.allocUnsafe(Math.max(need, Math.min(wanted, this.limit)));
    grown.set(this.buffer.subarray(0, this.used));
    this.buffer = grown;
  }
}
