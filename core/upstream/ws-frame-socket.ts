import type { WebSocket } from 'ws';
import { closeCodes, type FrameListener, type FrameSocket } from '../contract/plugin/web-socket.ts';

/** Bytes above which the sender pauses, and below which it resumes. */
const bufferedBytesHigh = 256 * 1024;
const bufferedBytesLow = 64 * 1024;

/** A provider's end of a session: an open socket of `ws`, paused until it is resumed. */
export class WsFrameSocket implements FrameSocket {
  readonly #ws: WebSocket;
  #listener: FrameListener | null = null;
  #owesDrain = false;
  /** Rule that the provider broke, by error code of `ws`. */
  #error = '';

  /** `over` is called once, when the socket has closed. */
  constructor(ws: WebSocket, over: () => void) {
    this.#ws = ws;
    ws.pause();
    ws.on('message', (data, isBinary) => this.#listener?.onMessage(data as Buffer, isBinary));
    ws.on('pong', () => this.#listener?.onPong());
    ws.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('WS_ERR_')) this.#error = error.message;
    });
    ws.on('close', (code, reason) => {
      if (this.#error !== '') this.#listener?.onClose(closeCodes.cut, this.#error, true);
      else this.#listener?.onClose(code === 0 ? closeCodes.none : code, reason.toString('utf8'), false);
      this.#listener = null;
      over();
    });
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  listen(listener: FrameListener): void {
    this.#listener = listener;
  }

  send(data: Uint8Array, isBinary: boolean): boolean {
    if (this.#ws.readyState !== this.#ws.OPEN) return true;
    this.#ws.send(data, { binary: isBinary }, this.#written);
    if (this.#ws.bufferedAmount < bufferedBytesHigh) return true;
    this.#owesDrain = true;
    return false;
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  close(code: number | null, reason: string): void {
    // A paused socket would not read the provider's close frame.
    this.#ws.resume();
    if (code === null) this.#ws.close();
    else this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  readonly #written = (): void => {
    if (!this.#owesDrain || this.#ws.bufferedAmount > bufferedBytesLow) return;
    this.#owesDrain = false;
    this.#listener?.onDrain();
  };
}
