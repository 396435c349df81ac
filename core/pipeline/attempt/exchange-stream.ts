import type { UpstreamCall, UpstreamSender } from '../../contract/provider/upstream.ts';
import type { BodyConsumer, HeaderList, RequestBody } from '../../contract/values/http.ts';

/** One exchange whose reply its consumer reads chunk by chunk. */
export interface ExchangeStream {
  /** Rejects with the transport's GatewayError. */
  readonly head: Promise<{ readonly status: number; readonly headers: HeaderList }>;
  readonly body: AsyncIterable<Uint8Array>;
  /** Safe to call twice, and after the end. */
  abort(): void;
}

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
    abort() {
      if (isOver) return;
      isOver = true;
      exchange.abort();
      const error = new Error('the exchange was cancelled');
      settle.reject(error);
      chunks.end(error);
    },
  };
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
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) chunks.push(chunk);
      return Buffer.concat(chunks);
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
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isPaused = false;
  #end: { error: Error | null } | null = null;
  #wake: (() => void) | null = null;

  constructor(resume: () => void) {
    this.#resume = resume;
  }

  /** Returns false to pause the producer until `resume`. */
  push(chunk: Uint8Array): boolean {
    if (this.#end) return true;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#wake?.();
    if (this.#bytes <= heldBytesMax) return true;
    this.#isPaused = true;
    return false;
  }

  end(error: Error | null): this {
    this.#end ??= { error };
    this.#wake?.();
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#bytes -= chunk.length;
        if (this.#isPaused && this.#bytes < heldBytesMax / 2) {
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

/** Reads a reply whole. Returns null, and ends the exchange, if it has more than `bytesMax` bytes. */
export async function readWhole(stream: ExchangeStream, bytesMax: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream.body) {
    size += chunk.length;
    if (size > bytesMax) {
      stream.abort();
      return null;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}
