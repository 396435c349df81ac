import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { newGate } from '../gate.ts';

/** A handshake as received by the provider. */
interface Handshake {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly protocols: readonly string[];
}

/** One open session, at the provider's end. */
export interface FakeSession {
  readonly handshake: Handshake;
  readonly socket: WebSocket;
  /** Messages so far: text as text, binary as bytes. */
  readonly messages: (string | Buffer)[];
  /** The close code and reason the provider saw. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** A provider of WebSocket sessions on a real port. */
export interface FakeRealtime {
  readonly origin: string;
  readonly handshakes: Handshake[];
  /** Resolves with the next session that opens and was not returned before. */
  nextSession(): Promise<FakeSession>;
  /** Actions for the next handshakes: reply with a status and a body, cut the connection, stall, or (`null`) open a session. */
  replies: (((socket: Duplex, request: IncomingMessage) => void) | null)[];
  /** Called for each session when it opens. */
  onSession: (session: FakeSession) => void;
  close(): Promise<void>;
}

/** Starts one. It selects the first subprotocol offered, as providers do. */
export async function startFakeRealtime(): Promise<FakeRealtime> {
  const server: Server = createServer((_request, response) => response.writeHead(404).end('no such route'));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  const raw = new Set<Duplex>();
  const opened: FakeSession[] = [];
  const asked: ((session: FakeSession) => void)[] = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');

  const fake: FakeRealtime = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handshakes: [],
    replies: [],
    onSession: () => {},
    nextSession() {
      const session = opened.shift();
      return session ? Promise.resolve(session) : new Promise((resolve) => asked.push(resolve));
    },
    async close() {
      for (const socket of raw) socket.destroy();
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  server.on('upgrade', (request, socket, head) => {
    raw.add(socket);
    socket.on('close', () => raw.delete(socket));
    socket.on('error', () => {});
    const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').filter(Boolean);
    const handshake = { path: request.url ?? '', headers: request.headers, protocols };
    fake.handshakes.push(handshake);
    const reply = fake.replies.shift() ?? null;
    if (reply !== null) return reply(socket, request);
    sockets.handleUpgrade(request, socket, head, (ws) => open(ws, handshake));
  });
  return fake;

  function open(socket: WebSocket, handshake: Handshake): void {
    const closed = newGate<{ code: number; reason: string }>();
    const session: FakeSession = { handshake, socket, messages: [], closed: closed.opened };
    socket.on('message', (data, isBinary) => session.messages.push(isBinary ? (data as Buffer) : String(data)));
    socket.on('close', (code, reason) => closed.open({ code, reason: String(reason) }));
    socket.on('error', () => {});
    fake.onSession(session);
    const first = asked.shift();
    if (first) first(session);
    else opened.push(session);
  }
}

/** Replies to a handshake without opening a session. */
export function refuseWith(
  status: number,
  body: object,
  headers: Record<string, string> = {},
): NonNullable<FakeRealtime['replies'][0]> {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return (socket) => socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`);
}
