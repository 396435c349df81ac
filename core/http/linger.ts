import type { UwsRequestBody } from './request-body.ts';

/** Bytes of an upload that are read and dropped before its reply is sent. */
const lingerBytesMax = 64 * 1024 * 1024;
/** Maximum time for this, and maximum time without a byte, in milliseconds. */
const lingerMs = 30_000;
const lingerIdleMs = 1_000;

/**
 * Delays an early reply while the client still sends its body, and discards that body. Most clients write the whole body before
 * they read. A connection closed with unread bytes is reset, and such clients would lose the reply. The delay ends when the
 * upload ends, stalls for a second or exceeds its limits.
 */
export class Linger {
  readonly #body: UwsRequestBody;
  readonly #timer: NodeJS.Timeout;

  /** `done` is called once, unless `stop` is called before. */
  constructor(body: UwsRequestBody, done: () => void) {
    this.#body = body;
    const endMs = performance.now() + lingerMs;
    const bytesMax = body.receivedBytes + lingerBytesMax;
    let seenBytes = body.receivedBytes;
    const finish = (): void => {
      this.stop();
      done();
    };
    this.#timer = setInterval(() => {
      const isIdle = body.receivedBytes === seenBytes;
      seenBytes = body.receivedBytes;
      if (isIdle || seenBytes > bytesMax || performance.now() > endMs) finish();
    }, lingerIdleMs);
    body.onComplete = finish;
    body.discard();
  }

  /** True if the rest of this upload may be read: it has begun, its length is declared, and the rest is within the limit. */
  static suits(body: UwsRequestBody): boolean {
    return body.receivedBytes > 0 && body.length - body.receivedBytes <= lingerBytesMax && body.length > 0;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#body.onComplete = null;
  }
}
