import type { JsonObject } from '../../contract/values/json/json.ts';

type Receive = (message: JsonObject) => void;

/** Maximum number of messages that wait for a stream of the client. */
const waitingMax = 100;

/**
 * Messages of a server to the client of a session. A question goes to the client with the reply to its last open request, because not every
 * client opens a stream. Notices go to the stream. Both wait for a stream if there is none; of too many the oldest are dropped.
 */
export class SseInbox {
  readonly #onDropped: () => void;
  readonly #requests = new Set<Receive>();
  #stream: { readonly receive: Receive; end(): void } | null = null;
  #waiting: JsonObject[] = [];
  #isClosed = false;

  /** `onDropped` is called for each message that is dropped. */
  constructor(onDropped: () => void) {
    this.#onDropped = onDropped;
  }

  deliver(message: JsonObject): void {
    const isForRequest = message.id !== undefined || message.method === 'notifications/message';
    const receive = (isForRequest ? [...this.#requests].at(-1) : undefined) ?? this.#stream?.receive;
    if (receive) receive(message);
    else if (this.#waiting.push(message) > waitingMax) {
      this.#waiting.shift();
      this.#onDropped();
    }
  }

  /** Adds an open request. The returned function removes it. */
  addRequest(given: Receive): () => void {
    const receive: Receive = (message) => given(message);
    this.#requests.add(receive);
    const questions = this.#waiting.filter(({ id }) => id !== undefined);
    this.#waiting = this.#waiting.filter(({ id }) => id === undefined);
    for (const question of questions) receive(question);
    return () => void this.#requests.delete(receive);
  }

  /** Opens the stream of the client, in place of an earlier one. Resolves when it ends. */
  listen(receive: Receive, onCancel: (cancel: () => void) => void): Promise<void> {
    this.#stream?.end();
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      const stream = {
        receive,
        end: (): void => {
          if (this.#stream === stream) this.#stream = null;
          resolve();
        },
      };
      this.#stream = stream;
      onCancel(stream.end);
      for (const message of this.#waiting.splice(0)) receive(message);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.end();
  }
}
