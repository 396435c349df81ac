import { Readable } from 'node:stream';
import type { BodyControl, RequestBody } from '../contract/values/http/http.ts';

/**
 * A request body as the stream that undici reads. Nothing is read from the client before the connection is open, so a body whose
 * connection failed is still complete and can be sent to another target. Back-pressure is passed on: a full socket pauses the
 * client.
 */
export class UploadStream extends Readable {
  readonly #body: RequestBody;
  readonly #bytesMax: number;
  #control: BodyControl | null = null;
  #begun = false;

  constructor(body: RequestBody, bytesMax: number) {
    super({ highWaterMark: 64 * 1024 });
    this.#body = body;
    this.#bytesMax = bytesMax;
  }

  /** True after the first byte was requested. The body cannot be sent a second time. */
  get begun(): boolean {
    return this.#begun;
  }

  override _read(): void {
    if (this.#begun) {
      this.#control?.resume();
      return;
    }
    this.#begun = true;
    this.#control = this.#body.pipe(
      {
        // Chunks that arrive after the end of the exchange are dropped. The source was requested to discard them.
        onData: (chunk) => (this.destroyed ? true : this.push(chunk)),
        onEnd: () => {
          if (!this.destroyed) this.push(null);
        },
        onError: (error) => this.destroy(error),
      },
      this.#bytesMax,
    );
    if (this.destroyed) this.#control.discard();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.readableEnded) this.#control?.discard();
    callback(error);
  }
}
