import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { newGate } from '../gate.ts';

/** How an exchange ended: the whole reply was sent, the script cut it, or the connection closed before either. */
export type Closing = 'replied' | 'cut' | 'client-left';

/** One request exactly as it arrived. */
export class RecordedRequest {
  readonly method: string;
  /** Raw request target: path and query, never decoded. */
  readonly url: string;
  readonly path: string;
  /** Raw text after `?`, empty when there is none. */
  readonly query: string;
  /** Flat `[name, value, …]` with the spelling and order as sent. */
  readonly rawHeaders: readonly string[];
  readonly remotePort: number | undefined;
  readonly receivedAtMs = performance.now();
  /** Set when the exchange has ended. Compare with `receivedAtMs`. */
  closedAtMs: number | null = null;
  /** Body bytes that have arrived so far. */
  bodyBytes = 0;
  /** True if only length and hash were stored, because the body was larger than `keepBodyBytesMax`. */
  bodyDropped = false;
  /** Resolves when the whole body has arrived. Rejects if the client disconnects before. */
  readonly complete: Promise<void>;
  /** Resolves when the exchange has ended, with the way it ended. */
  readonly closed: Promise<Closing>;

  readonly #hash = createHash('sha256');
  readonly #chunks: Uint8Array[] = [];
  readonly #closing = newGate<Closing>();
  readonly #completion = newGate();
  readonly #keepBodyBytesMax: number;
  #digest: string | null = null;

  constructor(message: IncomingMessage, keepBodyBytesMax: number) {
    this.method = message.method ?? '';
    this.url = message.url ?? '';
    const mark = this.url.indexOf('?');
    this.path = mark < 0 ? this.url : this.url.slice(0, mark);
    this.query = mark < 0 ? '' : this.url.slice(mark + 1);
    this.rawHeaders = message.rawHeaders.slice();
    this.remotePort = message.socket.remotePort;
    this.closed = this.#closing.opened;
    this.complete = this.#completion.opened;
    this.#keepBodyBytesMax = keepBodyBytesMax;
  }

  /** Value of the first header of this name (any case), else undefined. */
  header(name: string): string | undefined {
    return this.headerValues(name)[0];
  }

  /** Every value of a header, in order. */
  headerValues(name: string): string[] {
    const wanted = name.toLowerCase();
    return this.rawHeaders.filter((_, i) => i % 2 === 1 && this.rawHeaders[i - 1]?.toLowerCase() === wanted);
  }

  /** Returns lower-case names as sent, with repeats. */
  headerNames(): string[] {
    return this.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  }

  /** The body so far. Throws if it was too large to store. Compare `sha256` then. */
  get body(): Buffer {
    if (this.bodyDropped)
      throw new Error(`a body of ${this.bodyBytes} bytes was not kept; raise keepBodyBytesMax or compare sha256`);
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.body.toString('utf8');
  }

  /** The body parsed as JSON. Throws if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  json(): any {
    return JSON.parse(this.text);
  }

  /** Hex SHA-256 of the body. Final when `complete` has resolved. */
  get sha256(): string {
    return this.#digest ?? this.#hash.copy().digest('hex');
  }

  /** For the server: adds one more piece of the body. */
  take(chunk: Uint8Array): void {
    this.bodyBytes += chunk.length;
    this.#hash.update(chunk);
    if (this.bodyDropped) return;
    this.#chunks.push(chunk);
    if (this.bodyBytes > this.#keepBodyBytesMax) {
      this.bodyDropped = true;
      this.#chunks.length = 0;
    }
  }

  /** For the server: marks the body as complete. */
  finish(): void {
    this.#digest = this.#hash.digest('hex');
    this.#completion.open();
  }

  /** For the server: marks the exchange as ended. */
  close(how: Closing): void {
    this.closedAtMs ??= performance.now();
    this.#completion.fail(new Error('the client left before its body was complete'));
    this.#closing.open(how);
  }
}
