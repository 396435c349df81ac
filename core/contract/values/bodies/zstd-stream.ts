import { Transform, type TransformCallback } from 'node:stream';
import { createZstdDecompress, type ZstdDecompress, type ZstdOptions } from 'node:zlib';

/**
 * Decodes all frames of a stream. The decoder of Node ends behind the first frame and drops the rest of its chunk (nodejs/node#64741). Fails at
 * the start of a frame beyond the first `framesMax` in the middle of chunks, because each of these needs a decoder of its own.
 */
export class ZstdStream extends Transform {
  readonly #options: ZstdOptions;
  readonly #framesMax: number;
  #frames = 0;
  #decoder: ZstdDecompress | null = null;
  /** Bytes that were written to the decoder. */
  #written = 0;

  constructor(options: ZstdOptions, framesMax: number) {
    super();
    this.#options = options;
    this.#framesMax = framesMax;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const decoder = this.#decoder ?? this.#begin();
    if (decoder === null) return done(new Error(`The body has more than ${this.#framesMax} frames`));
    this.#written += chunk.length;
    decoder.write(chunk, (error) => {
      // The event `error` follows.
      if (error) return;
      const left = this.#written - decoder.bytesWritten;
      if (left === 0) return done();
      const next = () => {
        this.#decoder = null;
        this._transform(chunk.subarray(chunk.length - left), _encoding, done);
      };
      if (decoder.readableEnded) next();
      else decoder.once('end', next);
    });
  }

  override _read(size: number): void {
    this.#decoder?.resume();
    super._read(size);
  }

  override _flush(done: TransformCallback): void {
    if (this.#decoder === null) return done();
    this.#decoder.once('end', () => done());
    this.#decoder.end();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#decoder?.destroy();
    done(error);
  }

  #begin(): ZstdDecompress | null {
    if (++this.#frames > this.#framesMax) return null;
    const decoder = createZstdDecompress(this.#options);
    decoder.on('data', (part: Buffer) => {
      if (!this.push(part)) decoder.pause();
    });
    decoder.on('error', (error) => this.destroy(error));
    this.#decoder = decoder;
    this.#written = 0;
    return decoder;
  }
}
