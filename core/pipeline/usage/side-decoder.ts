import { contentDecoder, type Decoder } from '../../contract/values/bodies/content-decoder.ts';

/** Encoded bytes that may wait to be decoded. */
const waitingBytesMax = 1024 * 1024;
/** Maximum number of decoded bytes of one reply, because a few compressed kilobytes can expand to gigabytes. */
const decodedBytesMax = 64 * 1024 * 1024;

/**
 * Decodes a copy of an encoded body whose original is sent unchanged. Runs in zlib's threads and holds only its window. Decoding
 * fails (`failed`) if the body is damaged, grows beyond 64 MiB, or arrives faster than it can be decoded.
 */
export class SideDecoder {
  failed = false;
  readonly #decoder: Decoder;
  readonly #over: Promise<void>;
  #decodedBytes = 0;

  /** Null: no decoder for this encoding. */
  static of(encoding: string, onData: (chunk: Uint8Array) => void): SideDecoder | null {
    const decoder = contentDecoder(encoding);
    return decoder && new SideDecoder(decoder, onData);
  }

  private constructor(decoder: Decoder, onData: (chunk: Uint8Array) => void) {
    this.#decoder = decoder;
    decoder.on('data', (chunk: Uint8Array) => {
      this.#decodedBytes += chunk.length;
      if (this.#decodedBytes > decodedBytesMax) this.#giveUp();
      else onData(chunk);
    });
    this.#over = new Promise((resolve) => {
      decoder.on('error', () => this.#giveUp());
      decoder.on('close', resolve);
    });
  }

  push(chunk: Uint8Array): void {
    if (this.failed) return;
    this.#decoder.write(chunk);
    if (this.#decoder.writableLength > waitingBytesMax) this.#giveUp();
  }

  /** Resolves when everything pushed is decoded or decoding has failed. Never rejects. */
  end(): Promise<void> {
    if (!this.failed) this.#decoder.end();
    return this.#over;
  }

  /** Stops at once. Safe to call twice. */
  discard(): void {
    this.#decoder.destroy();
  }

  #giveUp(): void {
    this.failed = true;
    this.#decoder.destroy();
  }
}
