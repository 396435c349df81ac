import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Uws } from './load-uws.ts';

/**
 * A cork in which a reply can be upgraded to a WebSocket long after its request.
 *
 * The addon wants writes inside a cork, and warns on stderr about each that is not. But the cork of the reply that is upgraded must
 * not be it: when that ends, the addon takes the socket for the reply it was (unless the two lie at different addresses), reads a
 * flag from memory that holds something else by then, and in about one process of eight closes the socket. So the upgrade runs inside
 * the cork of another reply: one that is never sent, to a request this process made to itself.
 */
export class CorkAnchor {
  readonly #uws: Uws;
  readonly #app: ReturnType<Uws['App']>;
  readonly #path = `/${randomUUID()}`;
  #res: HttpResponse | null = null;
  #client: Socket | null = null;
  #listening: us_listen_socket | null = null;

  /** Listens on a port of the loopback address for as long as its one request takes to arrive. */
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
   * Runs the function inside the cork. In the few milliseconds before a cork exists it runs without one, with a warning of the
   * addon.
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
