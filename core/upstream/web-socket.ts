import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { UpstreamCall, UpstreamExchange, UpstreamHandler } from '../contract/provider/upstream.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import type { Attempt, Connect } from './connector.ts';
import { toReplyHeaders, withoutHopByHop } from './hop-by-hop.ts';
import { notReached, type Phase, toUpstreamError } from './upstream-error.ts';
import { WsFrameSocket } from './ws-frame-socket.ts';

export interface WebSocketOptions {
  /** Maximum message size of the provider in bytes. */
  readonly messageBytesMax: number;
  /** Maximum header block of a reply in bytes. */
  readonly headerBytesMax: number;
  /** Called once when the call has failed or its socket has closed. */
  readonly onOver: () => void;
}

/**
 * Opens a WebSocket over a checked connection. If the provider responds with 101, the handler receives the open socket. Other
 * responses are handled like those of a plain call, except that a 2xx is invalid here and becomes `upstream_invalid`.
 */
export function openWebSocket(
  call: UpstreamCall,
  handler: UpstreamHandler,
  connect: Connect,
  options: WebSocketOptions,
): UpstreamExchange {
  const url = new URL(call.origin);
  const timers: NodeJS.Timeout[] = [];
  let phase: Phase = 'connect';
  let attempt: Attempt | null = null;
  let reply: IncomingMessage | null = null;
  let socket: WebSocket | null = null;
  let connection: Socket | null = null;
  let over = false;

  /** Ends the call. Returns true for the first caller only. */
  function finish(): boolean {
    if (over) return false;
    over = true;
    for (const timer of timers) clearTimeout(timer);
    return true;
  }

  function fail(error: GatewayError): void {
    if (!finish()) return;
    drop();
    options.onOver();
    handler.onError(error);
  }

  function drop(): void {
    attempt?.cancel();
    reply?.destroy();
    socket?.terminate();
  }

  function createConnection(_options: unknown, created: (error: Error | null, socket?: Socket) => void): undefined {
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    attempt = connect({ hostname, host: url.host, protocol: url.protocol, port }, (...[error, open]) => {
      attempt = null;
      if (error !== null) return created(error);
      if (over) return void open.destroy();
      open.setNoDelay(true);
      phase = 'head';
      connection = open;
      created(null, open);
    });
  }

  function takeReply(response: IncomingMessage): void {
    reply = response;
    const status = response.statusCode ?? 0;
    if (status < 300)
      return fail(new GatewayError('upstream_invalid', { message: `The provider responded with ${status} instead of 101` }));
    phase = 'body';
    handler.onHead(status, toReplyHeaders(response.headers));
    response.on('data', (chunk: Buffer) => {
      if (!over && !handler.onData(chunk)) response.pause();
    });
    response.on('end', () => {
      if (!finish()) return;
      socket?.terminate();
      options.onOver();
      handler.onEnd();
    });
    response.on('error', (error) => fail(toUpstreamError(error, 'body')));
  }

  const { connectMs, firstByteMs } = call.timeouts;
  const failLater = (ms: number, isDue: () => boolean, error: () => GatewayError): void => {
    if (ms > 0) timers.push(setTimeout(() => void (isDue() && fail(error())), ms));
  };
  failLater(
    connectMs,
    () => phase === 'connect',
    () => notReached(connectMs, attempt?.isResolving?.() ?? false),
  );
  failLater(
    firstByteMs,
    () => true,
    () => noResponse(firstByteMs),
  );

  queueMicrotask(() => {
    if (over) return;
    try {
      socket = new WebSocket(url, [...(call.webSocket?.protocols ?? [])], {
        headers: toHeaderObject(withoutHopByHop(call.headers)) as Record<string, string>,
        createConnection: createConnection as never,
        maxHeaderSize: options.headerBytesMax,
        maxPayload: options.messageBytesMax,
        perMessageDeflate: false,
        // The path is sent unchanged. A URL parser would normalise it.
        finishRequest: (request) => {
          request.path = call.path;
          request.end();
        },
      });
    } catch (thrown) {
      return fail(new GatewayError('internal', { cause: thrown, detail: 'the call cannot be written as a WebSocket handshake' }));
    }
    const opening = socket;
    let headers: HeaderList = [];
    let isChosen = true;
    opening.on('upgrade', (response) => {
      headers = toReplyHeaders(response.headers);
      const [offered] = call.webSocket?.protocols ?? [];
      if (offered === undefined || response.headers['sec-websocket-protocol'] !== undefined) return;
      // A provider may choose none (RFC 6455 §4.2.2). ws would then end the connection, as browsers do. It looks after this event.
      isChosen = false;
      response.headers['sec-websocket-protocol'] = offered;
    });
    opening.on('unexpected-response', (_request, response) => takeReply(response));
    opening.on('error', (error) => fail(toHandshakeError(error, phase)));
    opening.on('open', () => {
      if (!finish()) return opening.terminate();
      opening.removeAllListeners('error');
      const frames = new WsFrameSocket(opening, {
        messageBytesMax: options.messageBytesMax,
        readBytes: () => connection?.bytesRead ?? 0,
        over: options.onOver,
      });
      handler.onWebSocket?.(headers, frames, isChosen ? opening.protocol || null : null);
    });
  });

  return {
    resume: () => void reply?.resume(),
    abort: () => {
      if (!finish()) return;
      drop();
      options.onOver();
    },
  };
}

/** Errors of the handshake itself have no code: the provider responded with 101 but violated RFC 6455 §4.2.2. */
function toHandshakeError(error: Error, phase: Phase): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (phase !== 'connect' && (code === undefined || code.startsWith('HPE_'))) {
    // The texts of ws name headers, never their values. Those of Node's parser are not for callers.
    const message = code === undefined ? `The provider violated the WebSocket handshake: ${error.message}` : undefined;
    return new GatewayError('upstream_invalid', { message, detail: error.message, cause: error });
  }
  return toUpstreamError(error, phase);
}

function toHeaderObject(list: HeaderList): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    const value = list[i + 1] as string;
    const known = headers[name];
    headers[name] = known === undefined ? value : [...(typeof known === 'string' ? [known] : known), value];
  }
  return headers;
}

function noResponse(ms: number): GatewayError {
  return new GatewayError('request_timeout', { message: `Request exceeded the timeout sent in the request: ${ms}ms` });
}
