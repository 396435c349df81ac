import type { FrameSocket } from '../contract/plugin/web-socket.ts';

interface Message {
  readonly data: Uint8Array;
  readonly isBinary: boolean;
}

/** Approximate memory per held message beyond its bytes. */
const messageBytes = 100;

/**
 * One direction of a session. Messages are forwarded at once while the receiver accepts them. When it does not, the sender is
 * paused and the messages that still arrive are only held. A pause takes effect when the operating system has delivered its
 * buffered data, which is soon if little work is done per message.
 */
export class Relay {
  /** True while reading from the sender is paused. */
  paused = false;
  readonly #from: FrameSocket;
  readonly #to: FrameSocket;
  #held: Message[] = [];
  #heldBytes = 0;

  constructor(from: FrameSocket, to: FrameSocket) {
    this.#from = from;
    this.#to = to;
  }

  /** Bytes sent to the receiver that it has not accepted. */
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

  /** Called when the receiver accepts bytes again. Returns true if the sender is read again. */
  goOn(): boolean {
    if (!this.paused || !this.#release(false)) return false;
    this.paused = false;
    this.#from.resume();
    return true;
  }

  /** Sends all buffered messages even to a slow receiver, because the sender has closed. */
  flush(): void {
    this.#release(true);
  }

  /** Returns false if the receiver is full again before all messages are sent. */
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
