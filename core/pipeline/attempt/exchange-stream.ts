import type { UpstreamCall, UpstreamSender } from '../../contract/provider/upstream.ts';
import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import type { BodyConsumer, HeaderList, RequestBody } from '../../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';

/** One exchange whose reply its consumer reads chunk by chunk. */
export interface ExchangeStream {
  /** Rejects with the transport's GatewayError. */
  readonly head: Promise<{ readonly status: number; readonly headers: HeaderList }>;
  readonly body: AsyncIterable<Uint8Array>;
  /** Returns the whole body instead of `body`. Null, and the exchange ends, if it has more than `bytesMax` bytes. */
  whole(bytesMax: number): Maybe<Uint8Array | null>;
  /** Safe to call twice, and after the end. */
  abort(): void;
}

/** Sends a call, and returns its response as a promise of the head and an iterable body. A body that is not read pauses the provider. */
export function exchangeStream(sender: UpstreamSender, call: UpstreamCall): ExchangeStream {
  const chunks = new ChunkQueue(() => exchange.resume());
  let settle: { resolve(head: { status: number; headers: HeaderList }): void; reject(error: Error): void };
  const head = new Promise<{ status: number; headers: HeaderList }>((resolve, reject) => {
    settle = { resolve, reject };
  });
  head.catch(() => {});
  let isOver = false;
  const exchange = sender.send(call, {
    onHead: (status, headers) => settle.resolve({ status, headers }),
    onData: (chunk) => chunks.push(chunk),
    onEnd() {
      isOver = true;
      chunks.end(null);
    },
    onError(error) {
      isOver = true;
      settle.reject(error);
      chunks.end(error);
    },
  });
  return {
    head,
    body: chunks,
    whole(bytesMax) {
      const bytes = chunks.whole(bytesMax);
      const conclude = (read: Uint8Array | null): Uint8Array | null => {
        if (read === null) abort();
        return read;
      };
      return isPromise(bytes) ? bytes.then(conclude) : conclude(bytes);
    },
    abort,
  };

  function abort(): void {
    if (isOver) return;
    isOver = true;
    exchange.abort();
    const error = new Error('the exchange was cancelled');
    settle.reject(error);
    chunks.end(error);
  }
}

/** A body that streams in, to be read with `for await`. */
export function incoming(body: RequestBody, bytesMax: number): AsyncIterable<Uint8Array> {
  if (body.length === 0) return new ChunkQueue(() => {}).end(null);
  const chunks = new ChunkQueue(() => control?.resume());
  const control = body.pipe(
    { onData: (chunk) => chunks.push(chunk), onEnd: () => void chunks.end(null), onError: (error) => void chunks.end(error) },
    bytesMax,
  );
  return chunks;
}

/** Returns an iterable as a request body. `length` -1: unknown. */
export function bodyOf(source: AsyncIterable<Uint8Array>, length: number): RequestBody {
  return {
    length,
    async bytes() {
      const chunks = new ChunkList();
      for await (const chunk of source) chunks.push(chunk);
      return chunks.concat();
    },
    pipe(to) {
      let wake: (() => void) | null = null;
      let given = false;
      const isGivenUp = (): boolean => given;
      void pump(
        source,
        to,
        isGivenUp,
        () =>
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
      );
      return {
        resume: () => wake?.(),
        discard() {
          given = true;
          wake?.();
        },
      };
    },
  };
}

async function pump(
  source: AsyncIterable<Uint8Array>,
  to: BodyConsumer,
  isGivenUp: () => boolean,
  paused: () => Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of source) {
      if (isGivenUp()) return;
      if (chunk.length > 0 && !to.onData(chunk)) await paused();
    }
    if (!isGivenUp()) to.onEnd();
  } catch (thrown) {
    if (!isGivenUp()) to.onError(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
}

const heldBytesMax = 1024 * 1024;

/** A queue of chunks between a producer and an iterator. Requests a pause beyond 1 MiB. */
class ChunkQueue implements AsyncIterable<Uint8Array> {
  readonly #resume: () => void;
  readonly #chunks = new ChunkList();
  #isPaused = false;
  /** True while `whole` waits for the end. It has a limit of its own. */
  #isWhole = false;
  #end: { error: Error | null } | null = null;
  #wake: (() => void) | null = null;

  constructor(resume: () => void) {
    this.#resume = resume;
  }

  /** Returns false to pause the producer until `resume`. */
  push(chunk: Uint8Array): boolean {
    if (this.#end) return true;
    this.#chunks.push(chunk);
    this.#wake?.();
    if (this.#chunks.bytes <= heldBytesMax || this.#isWhole) return true;
    this.#isPaused = true;
    return false;
  }

  end(error: Error | null): this {
    this.#end ??= { error };
    this.#wake?.();
    return this;
  }

  /** Returns all chunks together: at once if the end is here. Null if they have more than `bytesMax` bytes. */
  whole(bytesMax: number): Maybe<Uint8Array | null> {
    const read = (): Uint8Array | null | undefined => {
      if (this.#chunks.bytes > bytesMax) return null;
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return this.#chunks.concat();
      return undefined;
    };
    const bytes = read();
    if (bytes !== undefined) return bytes;
    return new Promise((resolve, reject) => {
      this.#isWhole = true;
      if (this.#isPaused) this.#resume();
      this.#wake = () => {
        try {
          const all = read();
          if (all !== undefined) resolve(all);
        } catch (thrown) {
          reject(thrown);
        }
      };
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        if (this.#isPaused && this.#chunks.bytes < heldBytesMax / 2) {
          this.#isPaused = false;
          this.#resume();
        }
        yield chunk;
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
    }
  }
}
