import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Maximum size of a plain reply that is read before it is sent. */
const replyBytesMax = 64 * 1024 * 1024;
/** Maximum bytes of an error response that are held while another target may be called. */
const errorBytesMax = 1024 * 1024;

/** A reply that is read whole before any of it is sent. */
export class HeldReply {
  readonly #chunks = new ChunkList();
  #size = 0;

  /**
   * Stores one more chunk. Returns false if an error page is longer than its maximum; the stored part is enough. Throws
   * GatewayError.
   */
  push(status: number, chunk: Uint8Array, provider: string): boolean {
    this.#size += chunk.length;
    const ok = status < 300;
    if (this.#size > (ok ? replyBytesMax : errorBytesMax)) {
      if (!ok) return false;
      // A truncated JSON body cannot be used.
      throw new GatewayError('upstream_invalid', { message: `The reply of ${provider} is larger than ${replyBytesMax} bytes` });
    }
    this.#chunks.push(chunk);
    return true;
  }

  /** Returns the bytes so far. Releases the chunks, so that a large reply is not held twice while it is sent. */
  get body(): Uint8Array {
    const body = this.#chunks.concat();
    if (this.#chunks.length > 1) {
      this.#chunks.take();
      this.#chunks.push(body);
    }
    return body;
  }
}
