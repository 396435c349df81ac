import { Connection, type ConnectionOptions } from './connection.ts';

/**
 * The connections of one tenant to one origin. Their number is not limited, because a limit would limit concurrent streams. The
 * last used connection is taken first, so that after a burst the surplus becomes idle and closes. undici's own `Pool` searches
 * all busy connections for a free one on each request and never closes a free one. With 2,000 open streams that adds half as much
 * CPU time per request (`bench/transport.ts`).
 */
export class Pool {
  readonly #options: ConnectionOptions;
  readonly #idle: Connection[] = [];
  #busy = 0;
  #retired: Promise<void> | null = null;
  #onQuiet: () => void = () => {};
  /** Monotonic milliseconds of the last request. */
  lastUsedMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Returns a connection for one request: an idle one, unless `fresh`. The caller must `release` it. */
  acquire(fresh: boolean): Connection {
    this.#busy++;
    const idle = fresh ? undefined : this.#idle.pop();
    if (idle !== undefined) return idle;
    const connection = new Connection(this.#options);
    connection.onClosed = () => this.#forget(connection);
    return connection;
  }

  /** Called when the request has ended. A connection whose socket is closed, or that must not be reused, is removed. */
  release(connection: Connection, reuse: boolean): void {
    this.#busy--;
    if (reuse && this.#retired === null && connection.reusable) this.#idle.push(connection);
    else if (connection.reusable) void connection.close();
    if (this.#busy === 0) this.#onQuiet();
  }

  /** Number of open connections that wait for a request. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Closes idle connections now and the others when their exchanges end. Resolves when all are closed. */
  retire(): Promise<void> {
    this.#retired ??= this.#drain();
    return this.#retired;
  }

  async #drain(): Promise<void> {
    const closing = this.#idle.splice(0).map((connection) => connection.close());
    if (this.#busy > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
      });
    }
    await Promise.all(closing);
  }

  #forget(connection: Connection): void {
    // Searched from the end, because peers that close at once close the connection that became idle last.
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}
