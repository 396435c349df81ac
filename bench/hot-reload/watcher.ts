import { HttpConnection, type HttpReply, postBytes } from '../load/http-connection.ts';
import type { Read } from './history-checker.ts';

export interface WatcherOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Pause between a reply and the next call in milliseconds. */
  readonly everyMs: number;
  /** Returns the version in a reply. Null if it has none, which counts as a failure. */
  versionOf(reply: HttpReply): number | null;
}

/** Sends the same request to one instance repeatedly, one call at a time, and stores the versions of the replies. */
export class Watcher {
  readonly reads: Read[] = [];
  /** Replies without a version, by status. 0: the connection was cut or refused. */
  readonly failures = new Map<number, number>();
  readonly #options: WatcherOptions;
  #incarnation = 1;
  #running = true;
  #waiting: { version: number; resolve: (read: Read) => void }[] = [];
  #loop: Promise<void>;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Returns the first read, from now on, that shows this version or a later one. */
  first(version: number): Promise<Read> {
    return new Promise((resolve) => this.#waiting.push({ version, resolve }));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { url, headers, body, everyMs, versionOf } = this.#options;
    const { hostname, port } = new URL(url);
    const connection = new HttpConnection(hostname, Number(port));
    const bytes = postBytes(url, headers, body);
    while (this.#running) {
      const sentMs = performance.now();
      const result = await connection.call(bytes);
      const receivedMs = performance.now();
      const version = result.kind === 'reply' ? versionOf(result.reply) : null;
      if (version === null) this.#failed(result.kind === 'reply' ? result.reply.status : 0);
      else this.#take({ version, sentMs, receivedMs, incarnation: this.#incarnation });
      await new Promise((resolve) => setTimeout(resolve, result.kind === 'reply' ? everyMs : 5));
    }
    connection.close();
  }

  #failed(status: number): void {
    this.failures.set(status, (this.failures.get(status) ?? 0) + 1);
    // A connection ends with its process, so the next reply comes from another process.
    if (status === 0) this.#incarnation++;
  }

  #take(read: Read): void {
    this.reads.push(read);
    const due = this.#waiting.filter((one) => one.version <= read.version);
    this.#waiting = this.#waiting.filter((one) => one.version > read.version);
    for (const one of due) one.resolve(read);
  }
}
