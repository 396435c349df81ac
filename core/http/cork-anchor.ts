import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Uws } from './load-uws.ts';

/**
 * Provides a cork in which a reply can be upgraded to a WebSocket long after its request. The addon expects writes inside a cork,
 * and prints a warning on stderr for every other write. The cork of the upgraded reply itself must not be used. When that cork
 * ends, the addon treats the socket as the reply it was (unless the two are at different addresses), reads a flag from memory
 * that has other content by then, and in about one process of eight closes the socket. The upgrade therefore runs inside the cork
 * of another reply: one that is never sent, to a request this process made to itself.
 */
export class CorkAnchor {
  readonly #uws: Uws;
  readonly #app: ReturnType<Uws['App']>;
  readonly #path = `/${randomUUID()}`;
  #res: HttpResponse | null = null;
  #client: Socket | null = null;
  #listening: us_listen_socket | null = null;

  /** Listens on a loopback port until its one request arrives. */
  constructor(uws: Uws) {
    this.#uws = uws;
    this.#app = uws.App();
    this.#app.any('/*', (res, req) => {
      if (req.getUrl() !== this.#path) return void res.close();
      res.onAborted(() => {
        this.#res = null;
      });
      this.#res = res;
      this.#stopListening();
    });
    this.#app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) return;
      this.#listening = socket;
      this.#client = connect(uws.us_socket_local_port(socket), '127.0.0.1').unref();
      this.#client.on('error', () => this.#stopListening());
      this.#client.write(`GET ${this.#path} HTTP/1.1\r\nhost: anchor\r\n\r\n`);
    });
  }

  /**
   * Runs the function inside the cork. In the few milliseconds before a cork exists, it runs without one and the addon prints a
   * warning.
   */
  run(upgrade: () => void): void {
    if (this.#res === null) upgrade();
    else this.#res.cork(upgrade);
  }

  close(): void {
    this.#stopListening();
    this.#client?.destroy();
    this.#app.close();
  }

  #stopListening(): void {
    if (this.#listening !== null) this.#uws.us_listen_socket_close(this.#listening);
    this.#listening = null;
  }
}
