import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawReply {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One TCP (or TLS) connection that sends the given bytes unchanged and parses replies strictly. */
export interface RawClient {
  readonly socket: Socket;
  /** Received bytes that `reply` has not taken. */
  readonly received: Buffer;
  /** True after the peer has closed in any way. */
  readonly isClosed: boolean;
  send(bytes: string | Uint8Array): void;
  /** Returns the next whole reply. Rejects if the connection closes before it is complete or its framing is broken. */
  reply(options?: { readonly toHead?: boolean }): Promise<RawReply>;
  /** Resolves when at least this many untaken bytes have arrived. */
  receive(bytes: number): Promise<Buffer>;
  /** Resolves when the peer has closed, with all untaken bytes. */
  closed(): Promise<Buffer>;
  destroy(): void;
}

/** Text is sent as latin1, so a test can write any byte. */
export async function openRawClient(
  port: number,
  options: { readonly tls?: boolean; readonly host?: string } = {},
): Promise<RawClient> {
  const host = options.host ?? '127.0.0.1';
  const socket = options.tls ? connectTls({ port, host, rejectUnauthorized: false }) : connect(port, host);
  await new Promise<void>((resolve, reject) => {
    socket.once(options.tls ? 'secureConnect' : 'connect', () => resolve());
    socket.once('error', reject);
  });
  socket.setNoDelay(true);
  // Bytes are written once into room that doubles, because joining all of them again at each event took most of the time of large replies.
  let room: Buffer = Buffer.allocUnsafe(0);
  let received: Buffer = room;
  let progress: ChunkProgress = { at: 0, parts: [] };
  let isClosed = false;
  let wake = (): void => {};
  socket.on('data', (chunk) => {
    const start = received.byteOffset - room.byteOffset;
    const end = start + received.length;
    if (end + chunk.length > room.length) {
      // Taken bodies are views of the old room, which is never written again.
      room = Buffer.allocUnsafeSlow(Math.max(2 * received.length, 65_536) + chunk.length);
      room.set(received);
      room.set(chunk, received.length);
      received = room.subarray(0, received.length + chunk.length);
    } else {
      room.set(chunk, end);
      received = room.subarray(start, end + chunk.length);
    }
    wake();
  });
  socket.on('error', () => {});
  const onClosed = (): void => {
    isClosed = true;
    wake();
  };
  socket.on('end', onClosed);
  socket.on('close', onClosed);

  /** Calls `ready` after each event until it returns a value. */
  async function until<T>(what: string, ready: () => T | null): Promise<T> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const value = ready();
      if (value !== null) return value;
      if (isClosed)
        throw new Error(`The connection closed before ${what}; received: ${received.toString('latin1').slice(0, 500)}`);
      await changed;
    }
  }

  return {
    socket,
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    reply: ({ toHead = false } = {}) =>
      until('a whole reply', () => {
        const parsed = parseReply(received, progress, toHead);
        if (parsed === null) return null;
        received = received.subarray(parsed.bytes);
        progress = { at: 0, parts: [] };
        return parsed.reply;
      }),
    receive: (bytes) => until(`${bytes} bytes`, () => (received.length >= bytes ? received : null)),
    closed: () => until('it closed', () => (isClosed ? received : null)),
    destroy: () => void socket.destroy(),
  };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Position of the first chunk of a reply that has not been read, and the places of those before it. */
interface ChunkProgress {
  at: number;
  readonly parts: (readonly [start: number, end: number])[];
}

/** Null if incomplete. Throws on anything that RFC 9112 does not allow in a reply. */
function parseReply(bytes: Buffer, progress: ChunkProgress, toHead: boolean): { reply: RawReply; bytes: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const match = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine);
  if (!match) throw new Error(`Not a status line: ${statusLine}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const header = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): (.*)$/.exec(line);
    if (!header) throw new Error(`Not a header: ${line}`);
    const name = (header[1] as string).toLowerCase();
    if (name in headers && (name === 'content-length' || name === 'transfer-encoding')) throw new Error(`Repeated: ${name}`);
    headers[name] = name in headers ? `${headers[name]}, ${header[2]}` : (header[2] as string);
  }
  if ('content-length' in headers && 'transfer-encoding' in headers) throw new Error('Both content-length and transfer-encoding');
  const status = Number(match[1]);
  const from = headEnd + 4;
  const done = (body: Buffer, end: number) => ({ reply: { status, statusText: match[2] as string, headers, body }, bytes: end });
  if (toHead || status === 204 || status === 304) return done(Buffer.alloc(0), from);
  if (headers['transfer-encoding'] === 'chunked') return parseChunks(bytes, from, progress, done);
  const length = Number(headers['content-length']);
  if (!Number.isInteger(length)) throw new Error(`A reply without framing: ${statusLine}`);
  if (bytes.length < from + length) return null;
  return done(bytes.subarray(from, from + length), from + length);
}

function parseChunks<T>(bytes: Buffer, from: number, progress: ChunkProgress, done: (body: Buffer, end: number) => T): T | null {
  const { parts } = progress;
  for (;;) {
    const at = progress.at || from;
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const text = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-fA-F]+$/.test(text)) throw new Error(`Not a chunk size: ${JSON.stringify(text)}`);
    const size = Number.parseInt(text, 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return null;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('A chunk does not end where it says');
    if (size === 0) return done(Buffer.concat(parts.map(([start, stop]) => bytes.subarray(start, stop))), end + 2);
    parts.push([lineEnd + 2, end]);
    progress.at = end + 2;
  }
}
