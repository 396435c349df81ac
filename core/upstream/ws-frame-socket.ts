import type { WebSocket } from 'ws';
import { closeCodes, type FrameListener, type FrameSocket } from '../contract/plugin/sessions/web-socket.ts';

/** Bytes above which the sender pauses, and below which it resumes. */
const bufferedBytesHigh = 256 * 1024;
const bufferedBytesLow = 64 * 1024;

/** Frames that are handled in one event-loop turn before reading stops until the next, except those that are read already. */
const framesPerTurn = 500;
/** Bytes of control frames and frame headers that may arrive with one message. */
const overheadBytesMax = 1024 * 1024;

export interface WsFrameSocketOptions {
  readonly messageBytesMax: number;
  /** Returns the bytes read from the connection so far. */
  readBytes(): number;
  /** Called once, when the socket has closed. */
  over(): void;
}

/**
 * A provider's end of a session: an open socket of `ws`, paused until it is resumed.
 *
 * `ws` keeps the parts of an unfinished message as views of what was read, up to 64 KiB each. Control frames between the parts would
 * keep all of it. The bytes read since the last whole message are therefore limited.
 */
export class WsFrameSocket implements FrameSocket {
  readonly #ws: WebSocket;
  readonly #options: WsFrameSocketOptions;
  #readAtMessage: number;
  #listener: FrameListener | null = null;
  #isDrainAwaited = false;
  #isPaused = true;
  /** Frames of the current turn. */
  #frames = 0;
  /** Rule that the provider broke, by error code of `ws`. */
  #error = '';

  constructor(ws: WebSocket, options: WsFrameSocketOptions) {
    this.#ws = ws;
    this.#options = options;
    this.#readAtMessage = options.readBytes();
    ws.pause();
    ws.on('message', (data, isBinary) => {
      this.#readAtMessage = options.readBytes();
      this.#countFrame();
      this.#listener?.onMessage(data as Buffer, isBinary);
    });
    ws.on('ping', () => this.#countControlFrame());
    ws.on('pong', () => {
      this.#countControlFrame();
      this.#listener?.onPong();
    });
    ws.on('error', (error: NodeJS.ErrnoException) => {
      if (!error.code?.startsWith('WS_ERR_')) return;
      this.#error = error.message;
      // ws has sent a close frame, and would wait 30 s for the end of the connection. Nothing that it reads until then counts.
      ws.terminate();
    });
    ws.on('close', (code, reason) => {
      if (this.#error !== '') this.#listener?.onClose(closeCodes.cut, this.#error, true);
      else this.#listener?.onClose(code === 0 ? closeCodes.none : code, reason.toString('utf8'), false);
      this.#listener = null;
      options.over();
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
    this.#isDrainAwaited = true;
    return false;
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  pause(): void {
    this.#isPaused = true;
    this.#ws.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#frames < framesPerTurn) this.#ws.resume();
  }

  close(code: number | null, reason: string): void {
    // A paused socket would not read the provider's close frame.
    this.resume();
    if (code === null) this.#ws.close();
    else this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #countFrame(): void {
    if (this.#frames === 0) setImmediate(this.#turned);
    this.#frames++;
    if (this.#frames === framesPerTurn) this.#ws.pause();
  }

  readonly #turned = (): void => {
    const wasPaused = this.#frames >= framesPerTurn;
    this.#frames = 0;
    if (wasPaused && !this.#isPaused) this.#ws.resume();
  };

  #countControlFrame(): void {
    this.#countFrame();
    const { readBytes, messageBytesMax } = this.#options;
    const bytesMax = messageBytesMax + overheadBytesMax;
    if (readBytes() - this.#readAtMessage <= bytesMax) return;
    this.#error ||= `Too many control frames: ${bytesMax} bytes without a whole message`;
    this.#ws.terminate();
  }

  readonly #written = (): void => {
    if (!this.#isDrainAwaited || this.#ws.bufferedAmount > bufferedBytesLow) return;
    this.#isDrainAwaited = false;
    this.#listener?.onDrain();
  };
}
