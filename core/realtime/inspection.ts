import { setImmediate as nextTurn } from 'node:timers/promises';
import { heldBytesOf, toHeld } from '../contract/plugin/sessions/held-messages.ts';
import type { SessionDecision, SessionMessage } from '../contract/plugin/sessions/web-socket.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import type { Reading } from './reading.ts';

export interface InspectionOptions {
  /** Returns the decision about a message; undefined: it is forwarded. */
  inspect(message: SessionMessage): Maybe<SessionDecision | undefined>;
  /** Called for each decision, in the order of the messages. */
  decided(message: SessionMessage, decision: SessionDecision | undefined): void;
  failed(cause: unknown): void;
}

/** Bytes of waiting messages above which the sender is paused, and below which it is read again. */
const waitingBytesHigh = 256 * 1024;
const waitingBytesLow = 64 * 1024;
/** Number of messages that are done before they are removed. */
const trimAt = 256;
/** Time in milliseconds for which messages that waited are inspected before the event loop continues. */
const sliceMs = 10;

/**
 * Has the messages of one direction inspected, one after the other. While one is pending, later ones wait. The sender is paused
 * when many wait.
 */
export class Inspection {
  readonly #options: InspectionOptions;
  readonly #from: Reading;
  #waiting: SessionMessage[] = [];
  /** Number of messages at the start of `#waiting` that are done. Removing each from the array would move all others. */
  #done = 0;
  #isPending = false;
  #isPaused = false;
  #isStopped = false;
  /** Approximate memory of the messages that wait. */
  waitingBytes = 0;
  #whenIdle: (() => void) | null = null;

  constructor(from: Reading, options: InspectionOptions) {
    this.#from = from;
    this.#options = options;
  }

  push(message: SessionMessage): void {
    if (this.#isStopped) return;
    const held = this.#isPending ? toHeld(message) : message;
    this.#waiting.push(held);
    this.waitingBytes += heldBytesOf(held);
    if (!this.#isPending) void this.#run();
    if (!this.#isPaused && this.waitingBytes > waitingBytesHigh) {
      this.#isPaused = true;
      this.#from.pause();
    }
  }

  /** Calls back when no message waits: at once, or after the last decision. A later callback replaces an earlier one. */
  whenIdle(callback: () => void): void {
    if (this.#isPending) this.#whenIdle = callback;
    else callback();
  }

  /** Drops the messages that wait. */
  stop(): void {
    this.#isStopped = true;
    this.#drop();
  }

  async #run(): Promise<void> {
    this.#isPending = true;
    let turnedAtMs = performance.now();
    try {
      for (let message = this.#waiting[0]; message; message = this.#waiting[this.#done]) {
        const decision = this.#options.inspect(message);
        this.#options.decided(message, isPromise(decision) ? await decision : decision);
        this.#remove(message);
        if (this.#done === 0 || performance.now() - turnedAtMs < sliceMs) continue;
        await nextTurn();
        turnedAtMs = performance.now();
      }
    } catch (thrown) {
      this.#drop();
      this.#options.failed(thrown);
    }
    this.#isPending = false;
    const callback = this.#whenIdle;
    this.#whenIdle = null;
    callback?.();
  }

  #remove(message: SessionMessage): void {
    if (this.#waiting.length === 0) return;
    this.#done++;
    this.waitingBytes -= heldBytesOf(message);
    if (this.#done === this.#waiting.length) return this.#drop();
    if (this.#done >= trimAt && this.#done * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#done);
      this.#done = 0;
    }
    if (this.#isPaused && this.waitingBytes < waitingBytesLow) this.#read();
  }

  #drop(): void {
    this.#waiting.length = 0;
    this.#done = 0;
    this.waitingBytes = 0;
    if (this.#isPaused) this.#read();
  }

  #read(): void {
    this.#isPaused = false;
    this.#from.resume();
  }
}
