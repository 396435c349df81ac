import type { HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { GatewayError } from '../contract/errors.ts';
import { closeCodes, type FrameListener, type FrameSocket } from '../contract/web-socket.ts';
import type { ParsedRequest } from './read-request.ts';

/** What the addon carries from the upgrade to the open socket. */
interface Carried {
  readonly socket: UwsFrameSocket;
}

/** What is needed to answer 101 later: the addon's request dies with its callback. */
export interface WebSocketOffer {
  readonly key: string;
  readonly context: us_socket_context_t;
}

/** The sender is told to wait from here on. */
const bufferedBytesHigh = 256 * 1024;
const decoder = new TextDecoder();

/**
 * How the addon treats sockets: no compression, no time limits and no pings of its own (the session has those), no message dropped.
 * It refuses a message by the length in its header; up to twice the limit is let through to here, where the close can say why.
 */
export function webSocketBehavior(
  messageBytesMax: number,
  upgrade: NonNullable<WebSocketBehavior<Carried>['upgrade']>,
): WebSocketBehavior<Carried> {
  return {
    upgrade,
    maxPayloadLength: 2 * messageBytesMax,
    maxBackpressure: 0,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    open: (ws) => ws.getUserData().socket.opened(ws),
    message(ws, message, isBinary) {
      const { socket } = ws.getUserData();
      if (message.byteLength > messageBytesMax) socket.refuseMessage(messageBytesMax);
      else socket.received(message, isBinary);
    },
    drain: (ws) => ws.getUserData().socket.drained(),
    pong: (ws) => ws.getUserData().socket.ponged(),
    close: (ws, code, reason) => ws.getUserData().socket.closed(code, decoder.decode(reason)),
  };
}

/**
 * Reads what a request says about becoming a WebSocket (RFC 6455 §4.2.1). Null where it asks for none: such a request goes the way
 * of all others. A version that is not known here is a fault of the request.
 */
export function readWebSocketOffer(request: ParsedRequest, context: us_socket_context_t): WebSocketOffer | null {
  const key = request.header('sec-websocket-key');
  if (key === undefined || !hasToken(request.header('upgrade'), 'websocket')) return null;
  if (!hasToken(request.header('connection'), 'upgrade')) return null;
  if (request.header('sec-websocket-version') !== '13') {
    request.fault ??= new GatewayError('upgrade_required', { param: 'sec-websocket-version' });
    return null;
  }
  if (request.bodyLength !== 0) {
    request.fault ??= new GatewayError('bad_request', { message: 'A request for a WebSocket must not have a body' });
    return null;
  }
  const protocols: string[] = [];
  for (let i = 0; i < request.headers.length; i += 2) {
    if (request.headers[i] !== 'sec-websocket-protocol') continue;
    for (const item of (request.headers[i + 1] as string).split(',')) {
      const protocol = item.trim();
      if (protocol !== '' && !protocols.includes(protocol)) protocols.push(protocol);
    }
  }
  request.webSocketProtocols = protocols;
  return { key, context };
}

/**
 * A client's end of a session.
 *
 * Reading is paused with the addon's `pause` of HTTP replies: sockets have none of their own, but both are the same kind of object
 * inside the addon, and the two builds in use accept it (the tests run against both). A build that does not would be noticed by
 * `pausable`, and memory is bounded by the session either way. A failed write makes the addon read again, so a pause is said again
 * after everything that may have written.
 */
export class UwsFrameSocket implements FrameSocket {
  /** False where the addon cannot pause a socket. */
  pausable = true;
  #ws: WebSocket<Carried> | null = null;
  #listener: FrameListener | null = null;
  #paused = false;
  #owesDrain = false;
  #refused = false;
  /** What the gateway closed it with. */
  #closedWith: { code: number; reason: string } | null = null;
  readonly #pauseReading: () => void;
  readonly #resumeReading: () => void;
  readonly #over: () => void;
  readonly #failed: (error: unknown) => void;

  /** `over` is called once, when the socket has closed. */
  constructor(res: HttpResponse, over: () => void, failed: (error: unknown) => void) {
    this.#pauseReading = res.pause;
    this.#resumeReading = res.resume;
    this.#over = over;
    this.#failed = failed;
  }

  get bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0;
  }

  listen(listener: FrameListener): void {
    this.#listener = listener;
  }

  send(data: Uint8Array, isBinary: boolean): boolean {
    if (this.#ws === null) return true;
    this.#ws.send(data, isBinary, false);
    this.#pauseAgain();
    if (this.bufferedBytes < bufferedBytesHigh) return true;
    this.#owesDrain = true;
    return false;
  }

  ping(): void {
    this.#ws?.ping();
    this.#pauseAgain();
  }

  pause(): void {
    this.#paused = true;
    this.#pauseAgain();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#ws === null || !this.pausable) return;
    this.#resumeReading.call(this.#ws);
    // Resuming sets the addon's timeout for HTTP; a frame that is sent takes it back to none.
    this.#ws.ping();
  }

  close(code: number | null, reason: string): void {
    const ws = this.#ws;
    if (ws === null) return;
    this.#closedWith = { code: code ?? closeCodes.none, reason };
    // What the client still sends is not read any more, its close frame is.
    if (this.#paused && this.pausable) this.#resumeReading.call(ws);
    if (code === null) ws.end();
    else ws.end(code, reason);
  }

  terminate(): void {
    this.#closedWith ??= { code: closeCodes.cut, reason: '' };
    this.#ws?.close();
  }

  /** From the addon, inside its upgrade. */
  opened(ws: WebSocket<Carried>): void {
    this.#ws = ws;
    this.pause();
  }

  /** From the addon: the bytes are valid in this call only. */
  received(message: ArrayBuffer, isBinary: boolean): void {
    this.#pauseAgain();
    this.#call(() => this.#listener?.onMessage(Buffer.from(new Uint8Array(message)), isBinary));
  }

  refuseMessage(bytesMax: number): void {
    this.#refused = true;
    this.close(closeCodes.tooBig, `A message must not be longer than ${bytesMax} bytes`);
  }

  drained(): void {
    this.#pauseAgain();
    if (!this.#owesDrain || this.bufferedBytes > 0) return;
    this.#owesDrain = false;
    this.#call(() => this.#listener?.onDrain());
  }

  ponged(): void {
    this.#call(() => this.#listener?.onPong());
  }

  closed(code: number, reason: string): void {
    this.#ws = null;
    const said = this.#closedWith ?? saidByAddon(code, reason);
    const byRule = this.#refused || (this.#closedWith === null && code === closeCodes.cut && brokenRules.has(reason));
    this.#call(() => this.#listener?.onClose(said.code, said.reason, byRule));
    this.#over();
  }

  #pauseAgain(): void {
    if (!this.#paused || this.#ws === null || !this.pausable) return;
    try {
      this.#pauseReading.call(this.#ws);
    } catch {
      this.pausable = false;
    }
  }

  #call(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#failed(error);
      this.terminate();
    }
  }
}

/** What the addon cuts a client for, in its words. */
const brokenRules: ReadonlySet<string> = new Set([
  'Received too big message',
  'Received too big message, or other inflation error',
  'Received invalid UTF-8',
  'Received invalid WebSocket frame',
]);

/**
 * The addon does not read the codes 1012 to 3999 of a client and takes their frame for a fault: all that is known is that the client
 * closed. Its own words where a connection just ended are nobody's reason.
 */
function saidByAddon(code: number, reason: string): { code: number; reason: string } {
  if (code === closeCodes.cut && reason === 'Received invalid close payload') return { code: closeCodes.none, reason: '' };
  if (code === closeCodes.cut && !brokenRules.has(reason)) return { code, reason: '' };
  return { code, reason };
}

/** True when the comma list holds this token, whatever its case. */
function hasToken(list: string | undefined, token: string): boolean {
  return (
    list
      ?.toLowerCase()
      .split(',')
      .some((item) => item.trim() === token) ?? false
  );
}
