import { type ClientOptions, WebSocket } from 'ws';
import { newGate } from '../gate.ts';

/** A client of a session, with everything it has received. */
export interface SessionClient {
  readonly socket: WebSocket;
  /** Headers of the 101. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly messages: (string | Buffer)[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Resolves when this many messages have arrived. */
  received(count: number): Promise<void>;
}

/** A handshake with another reply than 101. */
export class RefusedHandshake extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;

  constructor(status: number, headers: RefusedHandshake['headers'], body: string) {
    super(`the reply to the handshake was ${status}: ${body}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  get json() {
    return JSON.parse(this.body);
  }
}

/** Opens a session with the `ws` client. Rejects with RefusedHandshake, or with the error of the socket. */
export function openSession(
  url: string,
  headers: Record<string, string>,
  protocols: string[] = [],
  more: ClientOptions = {},
): Promise<SessionClient> {
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false, ...more });
  const messages: (string | Buffer)[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  const closed = newGate<{ code: number; reason: string }>();
  let heads: SessionClient['headers'] = {};
  socket.on('upgrade', (response) => {
    heads = response.headers;
  });
  socket.on('message', (data, isBinary) => {
    messages.push(isBinary ? (data as Buffer) : String(data));
    for (const one of waiting) if (messages.length >= one.count) one.done();
  });
  socket.on('close', (code, reason) => closed.open({ code, reason: String(reason) }));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text) => {
        body += text;
      });
      response.on('end', () => {
        reject(new RefusedHandshake(response.statusCode ?? 0, response.headers, body));
        socket.terminate();
      });
    });
    socket.on('open', () =>
      resolve({
        socket,
        headers: heads,
        messages,
        closed: closed.opened,
        received: (count) =>
          messages.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done })),
      }),
    );
  });
}
