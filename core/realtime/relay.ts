import type { FrameSocket } from '../contract/plugin/web-socket.ts';

interface Message {
  readonly data: Uint8Array;
  readonly isBinary: boolean;
}

/** What holding a message costs beside its bytes, roughly. */
const messageBytes = 100;

/**
 * One direction of a session. Messages go on at once while the receiver takes them; when it does not, the sender is told to stop, and
 * what still arrives of it is only held: a pause takes hold when the operating system has handed over what it had, which is soon if
 * little is done with it.
 */
export class Relay {
  /** True while the sender is not read. */
  paused = false;
  readonly #from: FrameSocket;
  readonly #to: FrameSocket;
  #held: Message[] = [];
  #heldBytes = 0;

  constructor(from: FrameSocket, to: FrameSocket) {
    this.#from = from;
    this.#to = to;
  }

  /** Bytes on their way to the receiver that it has not taken. */
  get waitingBytes(): number {
    return this.#heldBytes + this.#to.bufferedBytes;
  }

  pass(data: Uint8Array, isBinary: boolean): void {
    if (this.paused) {
      this.#held.push({ data, isBinary });
      this.#heldBytes += data.length + messageBytes;
    } else if (!this.#to.send(data, isBinary)) {
      this.paused = true;
      this.#from.pause();
    }
  }

  /** The receiver takes bytes again. True when the sender is read again. */
  goOn(): boolean {
    if (!this.paused || !this.#release(false)) return false;
    this.paused = false;
    this.#from.resume();
    return true;
  }

  /** Sends what is held, however slow the receiver is: the sender has nothing more to say. */
  flush(): void {
    this.#release(true);
  }

  /** False when the receiver is full again before all has gone. */
  #release(all: boolean): boolean {
    const held = this.#held;
    let sent = 0;
    let goOn = true;
    while (sent < held.length && (goOn || all)) {
      const { data, isBinary } = held[sent++] as Message;
      this.#heldBytes -= data.length + messageBytes;
      goOn = this.#to.send(data, isBinary);
    }
    this.#held = held.slice(sent);
    return goOn;
  }
}
