import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpReply {
  readonly status: number;
  /** Unchanged head and body, framing included, as latin1. */
  readonly text: string;
}

/** The result of a call: a reply, or the way it failed. */
export type CallResult =
  | { readonly kind: 'reply'; readonly reply: HttpReply }
  /** The connection could not be opened, or closed before a byte of the request was sent. No call was in flight. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The connection closed with the request in flight. */
  | { readonly kind: 'cut'; readonly reason: string };

/** Returns the bytes of a POST with this body. */
export function postBytes(url: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
  return Buffer.from(
    `POST ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

/** Returns the bytes of a GET. */
export function getBytes(url: string, headers: Readonly<Record<string, string>>): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/**
 * One keep-alive connection with at most one call in flight, on a plain socket. It reports exactly if a call had been sent when
 * the connection closed, which client libraries hide. Reads replies framed by length or chunks.
 */
export class HttpConnection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | null = null;
  #received: Buffer[] = [];
  #settle: ((result: CallResult) => void) | null = null;
  #scan = newScan();
  onChunk: ((chunk: Buffer) => void) | null = null;
  /** `performance.now()` when the last connection was opened. */
  connectedAtMs = 0;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  /** Sends these bytes, over a new connection if there is none, and resolves with the result. Never rejects. */
  async call(bytes: Buffer): Promise<CallResult> {
    const socket = this.#socket ?? (await this.#open());
    if (typeof socket === 'string') return { kind: 'not-sent', reason: socket };
    if (socket.destroyed || !socket.writable) {
      this.#socket = null;
      return { kind: 'not-sent', reason: 'closed' };
    }
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#received = [];
      this.#scan = newScan();
      socket.write(bytes);
    });
  }

  /** Opens the connection before the first call. Returns the reason if that fails. */
  async open(): Promise<string | null> {
    const socket = await this.#open();
    return typeof socket === 'string' ? socket : null;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #open(): Promise<Socket | string> {
    this.connectedAtMs = performance.now();
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    try {
      await once(socket, 'connect');
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    }
    let reason = 'closed';
    socket.on('error', (error: NodeJS.ErrnoException) => (reason = error.code ?? error.message));
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null;
      this.#finish({ kind: 'cut', reason });
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket = socket;
    return socket;
  }

  #read(chunk: Buffer): void {
    this.#received.push(chunk);
    this.onChunk?.(chunk);
    if (!isComplete(this.#scan, chunk)) return;
    const text = Buffer.concat(this.#received).toString('latin1');
    if (/^connection: *close/im.test(text.slice(0, text.indexOf('\r\n\r\n')))) this.close();
    this.#finish({ kind: 'reply', reply: { status: this.#scan.status, text } });
  }

  #finish(result: CallResult): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(result);
  }
}

interface Scan {
  head: string;
  status: number;
  /** Bytes of the body still to come. -1: chunked. -2: head incomplete. */
  left: number;
  tail: string;
}

function newScan(): Scan {
  return { head: '', status: 0, left: -2, tail: '' };
}

/** Reads the next piece of a reply. Returns true when the reply is complete. Nothing may follow it. */
function isComplete(scan: Scan, chunk: Buffer): boolean {
  let body = chunk;
  if (scan.left === -2) {
    const before = scan.head.length;
    scan.head += chunk.toString('latin1');
    const end = scan.head.indexOf('\r\n\r\n');
    if (end < 0) return false;
    scan.status = Number(scan.head.slice(9, 12));
    const length = /^content-length: *(\d+)/im.exec(scan.head.slice(0, end))?.[1];
    scan.left = length === undefined ? -1 : Number(length);
    scan.tail = '\r\n';
    body = chunk.subarray(end + 4 - before);
  }
  if (scan.left === -1) {
    // Only the last bytes matter, because a chunked body ends with an empty chunk.
    scan.tail = (scan.tail + body.subarray(-7).toString('latin1')).slice(-7);
    return scan.tail === '\r\n0\r\n\r\n';
  }
  scan.left -= body.length;
  return scan.left <= 0;
}
