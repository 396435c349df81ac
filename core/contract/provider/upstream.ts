import type { FrameSocket } from '../plugin/sessions/web-socket.ts';
import type { GatewayError } from '../values/errors/errors.ts';
import type { HeaderList, RequestBody } from '../values/http/http.ts';

/** The tenant of calls to our own control plane: the only one for which the transport's internal origins are open. */
export const internalTenant = 'svc-internal';

/**
 * The tenant of calls to the metadata service of the machine's cloud. Only this tenant may call these origins, and it may call no
 * others.
 */
export const metadataTenant = 'svc-metadata';
export const metadataOrigins: readonly string[] = [
  'http://169.254.169.254', // AWS, Azure, Google Cloud
  'http://169.254.170.2', // AWS containers
  'http://169.254.170.23', // AWS pods
  'http://[fd00:ec2::254]', // AWS over IPv6
  'http://[fd00:ec2::23]', // AWS pods over IPv6
  'http://metadata.google.internal', // Google Cloud
];

/** One HTTP exchange with a provider. The transport adds nothing but framing: path and bytes leave exactly as given. */
export interface UpstreamCall {
  /** Owner of the connection pool: no two tenants share a socket. */
  readonly tenant: string;
  /** `https://api.openai.com` or `http://127.0.0.1:9000`: scheme, host and port only. */
  readonly origin: string;
  /** Raw path with query, beginning with `/`; never normalised. */
  readonly path: string;
  readonly method: string;
  /** Flat list without host, connection or framing headers (the transport sets those). */
  readonly headers: HeaderList;
  readonly body: Uint8Array | RequestBody | null;
  readonly timeouts: UpstreamTimeouts;
  /** Asks for a WebSocket with these subprotocols (RFC 6455 §4.1). `method` is then GET and `body` null. */
  readonly webSocket?: { readonly protocols: readonly string[] };
  /** Maximum length in bytes of a streamed `body`. A longer one is rejected. */
  readonly bodyBytesMax?: number;
}

/** Milliseconds; 0 = no limit. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** From the call to the head of the reply. */
  readonly firstByteMs: number;
  /** True: `firstByteMs` lasts until the first bytes of the body. Providers may send the head of a stream long before its first event. */
  readonly awaitsBody?: boolean;
  /** Longest silence between two chunks of the reply. */
  readonly idleMs: number;
  /** From the call to the end of the reply. */
  readonly totalMs: number;
}

/** Called in order: onHead, onData*, then exactly one of onEnd and onError (onError may come first). Nothing after `abort()`. */
export interface UpstreamHandler {
  /** Headers are a flat lower-case list as sent by the provider, hop-by-hop ones already removed. */
  onHead(status: number, headers: HeaderList): void;
  /**
   * Called instead of `onHead`, as the last call: the provider has responded with 101 to a call with `webSocket`. `protocol` is
   * the subprotocol it chose. The socket is paused. The receiver must close it.
   */
  onWebSocket?(headers: HeaderList, socket: FrameSocket, protocol: string | null): void;
  /** Returns false to pause the provider until `resume()`. The receiver owns the chunk. */
  onData(chunk: Uint8Array): boolean;
  onEnd(): void;
  /**
   * Codes: upstream_connect, upstream_reset, upstream_invalid, request_timeout, invalid_custom_host, body_too_large,
   * client_closed; draining when the transport closes, internal when the call cannot be written as HTTP.
   */
  onError(error: GatewayError): void;
}

export interface UpstreamExchange {
  /**
   * False while the request is not written to a connection, so that the provider cannot have received it. Absent: the provider
   * may have received it.
   */
  readonly sent?: boolean;
  resume(): void;
  /** Closes the exchange at once. No handler is called afterwards. Safe to call twice. */
  abort(): void;
}

export interface UpstreamSender {
  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamExchange;
}

export interface UpstreamTransport extends UpstreamSender {
  /** Lets running exchanges end, then closes all sockets. */
  close(): Promise<void>;
}
