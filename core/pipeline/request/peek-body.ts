import { ChunkList } from '../../contract/values/bodies/chunk-list.ts';
import type { BodyControl, RequestBody } from '../../contract/values/http/http.ts';

/** The first bytes of a body, and the body from its beginning, to be read once. */
export interface PeekedBody {
  readonly head: Uint8Array;
  /** True if `head` is the whole body. */
  readonly isWhole: boolean;
  /** The whole body with `head` as its first bytes, either unchanged or replaced. */
  from(head: Uint8Array): RequestBody;
}

/**
 * Reads a body until `headBytes` have arrived and leaves the rest unread. Calls `onGrow` with each chunk it stores. Rejects with
 * the error of the body, or with the error that `onGrow` throws.
 */
export function peekBody(
  body: RequestBody,
  headBytes: number,
  bytesMax: number,
  onGrow: (bytes: number) => void,
): Promise<PeekedBody> {
  return new Promise((resolve, reject) => {
    const chunks = new ChunkList();
    let ended = false;
    let failure: Error | null = null;
    let peeked = false;
    let to: Parameters<RequestBody['pipe']>[0] | null = null;
    const control: BodyControl = body.pipe(
      {
        onData(chunk) {
          if (to) return to.onData(chunk);
          try {
            onGrow(chunk.length);
          } catch (refusal) {
            reject(refusal);
            return false;
          }
          chunks.push(chunk);
          if (chunks.bytes < headBytes) return true;
          peek();
          return false;
        },
        onEnd() {
          ended = true;
          if (to) to.onEnd();
          else peek();
        },
        onError(error) {
          failure = error;
          if (to) to.onError(error);
          else reject(error);
        },
      },
      bytesMax,
    );

    function peek(): void {
      if (peeked) return;
      peeked = true;
      const head = chunks.concat();
      resolve({ head, isWhole: ended, from: (changed) => rest(changed, changed.length - head.length) });
    }

    function rest(head: Uint8Array, grownBy: number): RequestBody {
      return {
        length: body.length < 0 ? -1 : body.length + grownBy,
        bytes: () => Promise.reject(new Error('a body that was peeked into is only piped')),
        pipe(consumer) {
          let begun = false;
          const begin = (): void => {
            if (begun) return;
            begun = true;
            to = consumer;
            if (failure) return consumer.onError(failure);
            const more = consumer.onData(head);
            if (ended) consumer.onEnd();
            else if (more) control.resume();
          };
          // Deferred until the consumer has its control object, as for every body.
          process.nextTick(begin);
          return { resume: () => (begun ? control.resume() : undefined), discard: () => control.discard() };
        },
      };
    }
  });
}
