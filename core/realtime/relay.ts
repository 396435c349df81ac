import { heldBytesOf, toHeld } from '../contract/plugin/sessions/held-messages.ts';
import type { FrameSocket, SessionMessage } from '../contract/plugin/sessions/web-socket.ts';
import type { Reading } from './reading.ts';

type Message = Pick<SessionMessage, 'data' | 'isBinary'>;

/**
 * One direction of a session. Messages are forwarded at once while the receiver accepts them. When it does not, the sender is
 * paused and the messages that still arrive are only held. A pause takes effect when the operating system has delivered its
 * buffered data, which is soon if little work is done per message.
 */
export class Relay {
  /** True while the sender is paused because the receiver is full. */
  #isFull = false;
  readonly #from: Reading;
  readonly #to: FrameSocket;
  #held: Message[] = [];
  #heldBytes = 0;

  constructor(from: Reading, to: FrameSocket) {
    this.#from = from;
    this.#to = to;
  }

  /** Bytes sent to the receiver that it has not accepted. */
  get waitingBytes(): number {
    return this.#heldBytes + this.#to.bufferedBytes;
  }

  pass(data: Uint8Array, isBinary: boolean): void {
    if (this.#isFull) {
      const message = toHeld({ data, isBinary });
      this.#held.push(message);
      this.#heldBytes += heldBytesOf(message);
    } else if (!this.#to.send(data, isBinary)) {
      this.#isFull = true;
      this.#from.pause();
    }
  }

  /** Called when the receiver accepts bytes again. */
  goOn(): void {
    if (!this.#isFull || !this.#release(false)) return;
    this.#isFull = false;
    this.#from.resume();
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
      const message = held[sent++] as Message;
      this.#heldBytes -= heldBytesOf(message);
      goOn = this.#to.send(message.data, message.isBinary);
    }
    this.#held = held.slice(sent);
    return goOn;
  }
}
