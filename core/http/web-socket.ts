import type { HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { closeCodes, type FrameListener, type FrameSocket } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { PartBudget } from './part-budget.ts';
import type { ParsedRequest } from './read-request.ts';

/** Data the addon carries from the upgrade to the open socket. */
interface Carried {
  readonly socket: UwsFrameSocket;
}

/** Data for a later 101. The addon's request is valid only during its callback. */
export interface WebSocketOffer {
  readonly key: string;
  readonly context: us_socket_context_t;
}

/** Characters allowed in a subprotocol (RFC 6455 §4.1). Other characters would fail when the name is sent to the provider. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Buffered bytes from which the sender must pause. */
const bufferedBytesHigh = 256 * 1024;
/** Bytes of pongs that may wait for a client that does not read, and approximate bytes of a frame beyond its payload. */
const pongBytesMax = 256 * 1024;
const frameBytes = 16;
/** Interval at which the data waiting in a paused connection is written. */
const flushEveryMs = 10;
const tooManyFrames = 'The client sends more frames than the gateway can handle';
const decoder = new TextDecoder();
const nothing = (): void => {};

/**
 * Settings of the addon for sockets: no compression, no time limits and no pings of its own (the session has them), no dropped
 * messages. The addon rejects a message by the length in its header. It accepts up to twice the limit, so that this code can
 * close with a reason.
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
    ping: (ws, payload) => ws.getUserData().socket.pinged(payload.byteLength),
    pong: (ws) => ws.getUserData().socket.ponged(),
    close: (ws, code, reason) => ws.getUserData().socket.closed(code, decoder.decode(reason)),
  };
}

/**
 * Reads the WebSocket upgrade of a request (RFC 6455 §4.2.1). Null if the request asks for none; it is then handled like any
 * other. An unsupported version is an error of the request.
 */
export function readWebSocketOffer(request: ParsedRequest, context: us_socket_context_t): WebSocketOffer | null {
  const key = request.header('sec-websocket-key');
  if (key === undefined || !hasToken(request.header('upgrade'), 'websocket')) return null;
  if (!hasToken(request.header('connection'), 'upgrade')) return null;
  if (request.header('sec-websocket-version') !== '13') {
    request.error ??= new GatewayError('upgrade_required', { param: 'sec-websocket-version' });
    return null;
  }
  if (request.bodyLength !== 0) {
    request.error ??= new GatewayError('bad_request', { message: 'A request for a WebSocket must not have a body' });
    return null;
  }
  // A set, because the header has room for 16,000 names.
  const protocols = new Set<string>();
  for (let i = 0; i < request.headers.length; i += 2) {
    if (request.headers[i] !== 'sec-websocket-protocol') continue;
    for (const item of (request.headers[i + 1] as string).split(',')) {
      const protocol = item.trim();
      if (protocol !== '' && !token.test(protocol)) {
        request.error ??= new GatewayError('bad_request', {
          message: 'sec-websocket-protocol: expected tokens of letters, digits and symbols',
          param: 'sec-websocket-protocol',
        });
        return null;
      }
      if (protocol !== '') protocols.add(protocol);
    }
  }
  request.webSocketProtocols = [...protocols];
  return { key, context };
}

/**
 * A client's end of a session.
 *
 * Reading is paused with the addon's `pause` and `resume` of HTTP replies: sockets have none of their own, but both are the same
 * kind of object inside the addon, and the two builds in use accept it (the tests run against both). What they do there is to stop
 * watching the connection, and to watch it again as at the last pause of any connection of the same kind, one with bytes that wait
 * and one without being two kinds. Hence:
 * - a reply is paused and resumed once before it becomes a socket, so that there is such a last time;
 * - with bytes that wait a socket is resumed by a write: where the connection does not take all, the addon watches both directions;
 * - for the same reason the pause is repeated after everything that may write, which the addon itself does when a callback is over;
 * - a paused connection gets no event when it takes bytes again, so waiting bytes are written by a timer.
 */
export class UwsFrameSocket implements FrameSocket {
  #ws: WebSocket<Carried> | null = null;
  #listener: FrameListener | null = null;
  readonly #budget = new PartBudget();
  #paused = false;
  #pauseScheduled = false;
  #isDrainAwaited = false;
  #refused = false;
  #flusher: NodeJS.Timeout | null = null;
  /** Bytes of pongs since the client has last accepted everything. */
  #pongBytes = 0;
  /** Code and reason with which the gateway closed the socket. */
  #closedWith: { code: number; reason: string } | null = null;
  readonly #pauseReading: () => void;
  readonly #resumeReading: () => void;
  readonly #over: () => void;
  readonly #failed: (error: unknown) => void;

  /** Call just before the upgrade. `over` is called once, when the socket has closed. */
  constructor(res: HttpResponse, over: () => void, failed: (error: unknown) => void) {
    res.pause();
    res.resume();
    this.#pauseReading = res.pause;
    this.#resumeReading = res.resume;
    this.#over = over;
    this.#failed = failed;
  }

  get isOpen(): boolean {
    return this.#ws !== null;
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
    this.#isDrainAwaited = true;
    return false;
  }

  ping(): void {
    this.#ws?.ping();
    this.#pauseAgain();
    if (this.#isDrainAwaited) setImmediate(this.#callDrained);
  }

  pause(): void {
    this.#paused = true;
    this.#pauseAgain();
    this.#pauseAfterCallback();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    const ws = this.#ws;
    if (ws === null) return;
    ws.ping();
    if (ws.getBufferedAmount() > 0) return;
    // The addon reports no drain event for a write that empties the buffer.
    if (this.#isDrainAwaited) setImmediate(this.#callDrained);
    this.#resumeReading.call(ws);
    // Resuming sets the addon's timeout for HTTP. Sending a frame removes it.
    ws.ping();
  }

  close(code: number | null, reason: string): void {
    const ws = this.#ws;
    if (ws === null) return;
    this.#closedWith = { code: code ?? closeCodes.none, reason };
    // The client's close frame must still be read.
    this.resume();
    if (code === null) ws.end();
    else ws.end(code, reason);
  }

  terminate(): void {
    this.#closedWith ??= { code: closeCodes.cut, reason: '' };
    this.#ws?.close();
  }

  /** Called by the addon, inside its upgrade. Nothing is read before the end of the turn, when a listener is set. */
  opened(ws: WebSocket<Carried>): void {
    this.#ws = ws;
  }

  /** Called by the addon. The bytes are valid in this call only. */
  received(message: ArrayBuffer, isBinary: boolean): void {
    if (!this.#budget.take()) return this.#cutOff(tooManyFrames);
    if (this.#paused) this.#pauseAfterCallback();
    this.#call(() => this.#listener?.onMessage(Buffer.from(new Uint8Array(message)), isBinary));
  }

  refuseMessage(bytesMax: number): void {
    this.#refused = true;
    this.close(closeCodes.tooBig, `A message must not be longer than ${bytesMax} bytes`);
  }

  drained(): void {
    this.#pauseAgain();
    this.#callDrained();
  }

  /** Called by the addon, which replies to each ping whether or not the client reads. */
  pinged(payloadBytes: number): void {
    if (this.bufferedBytes === 0) this.#pongBytes = 0;
    else this.#pongBytes += payloadBytes + frameBytes;
    if (this.#pongBytes > pongBytesMax) this.#cutOff('The client does not read the replies to its pings');
    else if (!this.#budget.take()) this.#cutOff(tooManyFrames);
  }

  ponged(): void {
    if (!this.#budget.take()) return this.#cutOff(tooManyFrames);
    this.#call(() => this.#listener?.onPong());
  }

  closed(code: number, reason: string): void {
    this.#ws = null;
    if (this.#flusher !== null) clearTimeout(this.#flusher);
    const close = this.#closedWith ?? closeOfAddon(code, reason);
    const byRule = this.#refused || (this.#closedWith === null && code === closeCodes.cut && brokenRules.has(reason));
    this.#call(() => this.#listener?.onClose(close.code, close.reason, byRule));
    this.#over();
  }

  /** Ends the connection at once, because the client broke a rule. */
  #cutOff(reason: string): void {
    this.#refused = true;
    this.#closedWith ??= { code: closeCodes.cut, reason };
    this.terminate();
  }

  #pauseAgain(): void {
    if (!this.#paused || this.#ws === null) return;
    this.#pauseReading.call(this.#ws);
    if (this.#flusher === null && this.bufferedBytes > 0) this.#flusher = setTimeout(this.#flush, flushEveryMs);
  }

  #pauseAfterCallback(): void {
    if (this.#pauseScheduled) return;
    this.#pauseScheduled = true;
    setImmediate(this.#pauseNow);
  }

  readonly #pauseNow = (): void => {
    this.#pauseScheduled = false;
    this.#pauseAgain();
  };

  readonly #callDrained = (): void => {
    if (!this.#isDrainAwaited || this.#ws === null || this.bufferedBytes > 0) return;
    this.#isDrainAwaited = false;
    this.#call(() => this.#listener?.onDrain());
  };

  /** Writes the data that waits in a paused connection. The addon writes it when a cork ends. */
  readonly #flush = (): void => {
    this.#flusher = null;
    if (this.#ws === null || !this.#paused) return;
    this.#ws.cork(nothing);
    this.#pauseAgain();
    this.#callDrained();
  };

  #call(callBack: () => void): void {
    try {
      callBack();
    } catch (error) {
      this.#failed(error);
      this.terminate();
    }
  }
}

/** The addon's reasons for closing a connection because the client broke a rule. */
const brokenRules: ReadonlySet<string> = new Set([
  'Received too big message',
  'Received too big message, or other inflation error',
  'Received invalid UTF-8',
  'Received invalid WebSocket frame',
]);

/**
 * Corrects the code and reason of the addon. The addon rejects a client's codes 1012 to 3999 as an invalid close frame, so only
 * the fact that the client closed is known. The addon's own reason for a connection that just ended is removed.
 */
function closeOfAddon(code: number, reason: string): { code: number; reason: string } {
  if (code === closeCodes.cut && reason === 'Received invalid close payload') return { code: closeCodes.none, reason: '' };
  if (code === closeCodes.cut && !brokenRules.has(reason)) return { code, reason: '' };
  return { code, reason };
}

/** True if the comma-separated list contains this token, in any case. */
function hasToken(list: string | undefined, token: string): boolean {
  return (
    list
      ?.toLowerCase()
      .split(',')
      .some((item) => item.trim() === token) ?? false
  );
}
