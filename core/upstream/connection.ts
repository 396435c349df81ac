import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Attempt, Connect } from './connector.ts';
import { Client } from './undici-client.ts';

export interface ConnectionOptions {
  readonly url: URL;
  readonly connect: Connect;
  /** Idle time after which a socket is closed, unless the provider announced its own (`Keep-Alive: timeout=`). */
  readonly keepAliveMs: number;
  /** Maximum header block of a reply in bytes. */
  readonly headerBytesMax: number;
  readonly onHandlerError: (error: unknown) => void;
}

/**
 * One keep-alive connection: an undici client and its socket. Access to the socket shows if a request used a reused connection,
 * allows a connection attempt to be abandoned, and reveals a reset that HTTP framing alone would hide.
 */
export class Connection {
  readonly #client: Client;
  /** The newest socket; may be closed. */
  socket: Socket | null = null;
  /** True until the first request on `socket` begins. */
  fresh = false;
  /** Called when the socket closes. */
  onClosed: () => void = () => {};
  #attempt: Attempt | null = null;

  constructor(options: ConnectionOptions) {
    this.#client = new Client(options.url, {
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      keepAliveMaxTimeout: 2 * options.keepAliveMs,
      maxHeaderSize: options.headerBytesMax,
      connect: (connectOptions, callback) => {
        this.#attempt = options.connect(connectOptions, (...[error, socket]) => {
          this.#attempt = null;
          if (error !== null) return callback(error, null);
          this.socket = socket;
          this.fresh = true;
          callback(null, socket);
        });
      },
    });
    this.#client.on('disconnect', () => this.onClosed());
    // undici emits the errors a handler throws while it handles an error. Without a listener that would end the process.
    (this.#client as NodeJS.EventEmitter).on('error', options.onHandlerError);
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler);
  }

  /** Abandons an attempt to connect, if one is in progress. */
  cancelConnect(): void {
    this.#attempt?.cancel();
  }

  /** True while an attempt to connect waits for name servers. */
  get isResolving(): boolean {
    return this.#attempt?.isResolving?.() ?? false;
  }

  /** True if another request can be sent on this socket. */
  get reusable(): boolean {
    return this.socket !== null && !this.socket.destroyed;
  }

  /** Closes the socket when its request, if any, has ended. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
