import type { FrameSocket } from '../contract/plugin/sessions/web-socket.ts';

/** Reading from one socket. It stops while at least one of its users has paused it. */
export class Reading {
  readonly #socket: Pick<FrameSocket, 'pause' | 'resume'>;
  readonly #resumed: () => void;
  #pauses = 0;

  /** `resumed` is called when the socket is read again. */
  constructor(socket: Pick<FrameSocket, 'pause' | 'resume'>, resumed: () => void) {
    this.#socket = socket;
    this.#resumed = resumed;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Each call needs one call of `resume`. */
  pause(): void {
    this.#pauses++;
    if (this.#pauses === 1) this.#socket.pause();
  }

  resume(): void {
    this.#pauses--;
    if (this.#pauses > 0) return;
    this.#socket.resume();
    this.#resumed();
  }
}
