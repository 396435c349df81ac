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
  /** The last three bytes of the stream, or all of a shorter one. */
  #end: Uint8Array = new Uint8Array();

  constructor(options: ZstdOptions, framesMax: number) {
    super();
    this.#options = options;
    this.#framesMax = framesMax;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#end = (chunk.length < 3 ? Buffer.concat([this.#end, chunk]) : chunk).subarray(-3);
    this.#decode(chunk, done);
  }

  #decode(chunk: Buffer, done: TransformCallback): void {
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
        this.#decode(chunk.subarray(chunk.length - left), done);
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
    // Behind a frame a decoder expects the magic number of another one, and rejects other bytes. Bytes that complete a number that the stream
    // may have begun are rejected only if it has not. Within a frame, all bytes are its content.
    decoder.once('error', (error: NodeJS.ErrnoException) => {
      const isComplete = error.code === 'ZSTD_error_prefix_unknown' && this.#written >= magicBytes;
      done(isComplete ? null : cutOff());
    });
    decoder.write(restOfMagic(this.#end), (error) => {
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

/** Magic numbers of frames with content and of frames that are skipped. The first byte of the latter has 16 values. */
const magics = [
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  ...Array.from({ length: 16 }, (_, n) => Buffer.from([0x50 + n, 0x2a, 0x4d, 0x18])),
];

/** Returns four bytes that complete the magic number with which a stream with this end may begin a frame. */
function restOfMagic(end: Uint8Array): Buffer {
  const rest = Buffer.alloc(magicBytes);
  for (let begun = magicBytes - 1; begun > 0; begun--) {
    const magic = magics.find((one) => begun <= end.length && one.subarray(0, begun).equals(end.subarray(-begun)));
    if (magic === undefined) continue;
    magic.copy(rest, 0, begun);
    break;
  }
  return rest;
}

function cutOff(): Error {
  return new Error('The last frame is cut off');
}
