import type { SessionDecision, SessionMessage } from '../contract/plugin/web-socket.ts';
import { isPromise, type Maybe } from '../contract/values/json.ts';

export interface InspectionOptions {
  /** Returns what is to happen with a message; undefined: it is forwarded. */
  inspect(message: SessionMessage): Maybe<SessionDecision | undefined>;
  /** Called for each decision, in the order of the messages. */
  decided(message: SessionMessage, decision: SessionDecision | undefined): void;
  failed(cause: unknown): void;
}

/** Has the messages of one direction inspected, one after the other. While one is pending, later ones wait. */
export class Inspection {
  readonly #options: InspectionOptions;
  readonly #waiting: SessionMessage[] = [];
  #isPending = false;
  /** Bytes of the messages that wait. */
  waitingBytes = 0;
  #whenIdle: (() => void) | null = null;

  constructor(options: InspectionOptions) {
    this.#options = options;
  }

  push(message: SessionMessage): void {
    this.#waiting.push(message);
    this.waitingBytes += message.data.length;
    if (!this.#isPending) void this.#run();
  }

  /** Calls back when no message waits: at once, or after the last decision. A later callback replaces an earlier one. */
  whenIdle(callback: () => void): void {
    if (this.#isPending) this.#whenIdle = callback;
    else callback();
  }

  async #run(): Promise<void> {
    this.#isPending = true;
    try {
      for (let message = this.#waiting[0]; message; message = this.#waiting[0]) {
        const decision = this.#options.inspect(message);
        this.#options.decided(message, isPromise(decision) ? await decision : decision);
        this.#waiting.shift();
        this.waitingBytes -= message.data.length;
      }
    } catch (thrown) {
      this.#waiting.length = 0;
      this.#options.failed(thrown);
    }
    this.#isPending = false;
    const callback = this.#whenIdle;
    this.#whenIdle = null;
    callback?.();
  }
}
