import { Connection, type ConnectionOptions } from './connection.ts';

/**
 * The connections of one tenant to one origin. There is no limit on their number: a limit would be a limit on concurrent
 * streams. The last used is taken first, so that after a burst the surplus goes idle and closes. undici's own `Pool` searches
 * all busy connections for a free one on each request and never lets a closed one go: with 2,000 streams open that is half as
 * much CPU time again per request (`bench/transport.ts`).
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

  /** A connection for one request; an idle one unless `fresh`. Give it back with `release`. */
  acquire(fresh: boolean): Connection {
    this.#busy++;
    const idle = fresh ? undefined : this.#idle.pop();
    if (idle !== undefined) return idle;
    const connection = new Connection(this.#options);
    connection.onClosed = () => this.#forget(connection);
    return connection;
  }

  /** The request has ended. A connection whose socket is closed, or that must not be reused, is removed. */
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

  /** Closes what is idle now and the rest as it becomes so; running exchanges are left alone. Settles when all are through. */
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
    // From the end: the newest to go idle are the likeliest to be closed by a peer that hangs up at once.
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}
