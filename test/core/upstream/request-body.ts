import type { BodyConsumer, RequestBody } from '../../../core/contract/values/http/http.ts';

export interface TestBody extends RequestBody {
  /** Bytes handed to the consumer so far. */
  readonly sent: number;
  readonly piped: boolean;
  readonly discarded: boolean;
  /** Ends the body with this error, as when the client disconnects. */
  fail(error: Error): void;
}

/** A request body that delivers `chunks` as fast as it can. It stops at false and continues at `resume()`. */
export function bodyOf(chunks: Iterable<Uint8Array>, length: number, end: 'end' | 'stay-open' = 'end'): TestBody {
  const source = chunks[Symbol.iterator]();
  let consumer: BodyConsumer | null = null;
  let paused = false;
  let over = false;
  const state = { sent: 0, discarded: false };
  const pump = () => {
    paused = false;
    while (!paused && !over) {
      const { done, value } = source.next();
      if (done) {
        if (end === 'end') {
          over = true;
          consumer?.onEnd();
        }
        return;
      }
      state.sent += value.length;
      if (consumer?.onData(value) === false) paused = true;
    }
  };
  return {
    length,
    get sent() {
      return state.sent;
    },
    get piped() {
      return consumer !== null;
    },
    get discarded() {
      return state.discarded;
    },
    fail(error) {
      over = true;
      consumer?.onError(error);
    },
    bytes: () => Promise.reject(new Error('the transport streams')),
    pipe(to) {
      consumer = to;
      queueMicrotask(pump);
      return {
        resume: () => queueMicrotask(pump),
        discard: () => {
          over = true;
          state.discarded = true;
        },
      };
    },
  };
}

/** `count` views of one chunk, so that a long body costs its reader's memory, not the test's. */
export function* repeat(chunk: Uint8Array, count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) yield chunk;
}
