import { Transform, type TransformCallback } from 'node:stream';
import { createZstdDecompress, type ZstdDecompress, type ZstdOptions } from 'node:zlib';

/**
 * Decodes all frames of a stream. The decoder of Node ends behind the first frame and drops the rest of its chunk (nodejs/node#64741). Fails at
 * the start of a frame beyond the first `framesMax` in the middle of chunks, because each of these needs a decoder of its own, and if the last
 * frame is cut off, which the decoder of Node accepts.
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
    const decoder = this.#decoder;
    if (decoder === null) return done();
    // An error would drop what a slow reader has not taken yet.
    if (decoder.readableLength > 0) {
      decoder.once('data', () => this._flush(done));
      return;
    }
    decoder.removeAllListeners('data').removeAllListeners('error').resume();
    // At the end of a frame a decoder expects the magic number of another one. Within a frame it takes these bytes as its content.
    decoder.once('error', (error: NodeJS.ErrnoException) => {
      const isComplete = error.code === 'ZSTD_error_prefix_unknown' && this.#written >= magicBytes;
      done(isComplete ? null : cutOff());
    });
    decoder.write(Buffer.alloc(magicBytes), (error) => {
      if (!error) done(cutOff());
    });
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

/** Length of the number with which each frame begins. */
const magicBytes = 4;

function cutOff(): Error {
  return new Error('The last frame is cut off');
}
