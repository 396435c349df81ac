import { isUtf8 } from 'node:buffer';
import type { FrameSocket } from '../../plugin/sessions/web-socket.ts';
import type { GatewayError } from '../errors/errors.ts';

/**
 * Types shared by the HTTP edge and the pipeline, independent of the transport. Only `core/http` implements them, so tests run
 * the real pipeline without a port.
 */

/** Flat list `[name, value, name, value, …]`. Names are lower-case, values are unchanged latin1 text. */
export type HeaderList = string[];

/** One request, parsed once. Auth, routing, logs and the upstream path all read this same object. */
export interface InboundRequest {
  /** Upper-case method. */
  readonly method: string;
  /** Raw path before `?`: never decoded, never normalised. */
  readonly path: string;
  /** Raw text after `?`; empty when there is none. */
  readonly query: string;
  readonly headers: HeaderList;
  /** Value of the first header of this lower-case name, else undefined. */
  header(name: string): string | undefined;
  /** Address of the client as text (`127.0.0.1`, `::1`): the peer's, or the one a trusted proxy reports. */
  readonly remoteAddress: string;
  /** Country of that address as a trusted proxy reports it, two capitals; else null or absent. */
  readonly country?: string | null;
  /**
   * Returns the address at which the caller reached the gateway, without `/` at its end. Empty if it is unknown. Absent: unknown.
   */
  ownAddress?(): string;
  /**
   * The subprotocols that a WebSocket request offers, in the client's order (RFC 6455 §4.1). Null or absent for other requests.
   */
  readonly webSocketProtocols?: readonly string[] | null;
  readonly body: RequestBody;
}

/** A request body. The first caller decides if it is buffered, streamed or discarded; reading it is optional. */
export interface RequestBody {
  /** Declared length in bytes; 0 = no body, -1 = chunked, so not known. */
  readonly length: number;
  /**
   * Resolves with the whole body. Rejects with GatewayError `body_too_large` (413) as soon as the limit is known to be passed, and with
   * `client_closed` if the client leaves. Call it once, instead of `pipe`. `onGrow` is called before memory is taken, with its bytes;
   * `onChunk` is called with each chunk, which is valid during the call only. An error that either throws rejects the body.
   */
  bytes(maxBytes: number, onGrow?: (bytes: number) => void, onChunk?: (chunk: Uint8Array) => void): Promise<Uint8Array>;
  /** Streams the body to `to` as it arrives, without copying more than the current chunk. Call once, instead of `bytes`. */
  pipe(to: BodyConsumer, maxBytes: number): BodyControl;
}

export interface BodyConsumer {
  /** The consumer owns the chunk. Returning false pauses the source until `resume()`. */
  onData(chunk: Uint8Array): boolean;
  onEnd(): void;
  /** `body_too_large` or `client_closed`; nothing follows. */
  onError(error: Error): void;
}

export interface BodyControl {
  resume(): void;
  /** Discards the rest of the body, or closes the connection with the reply. */
  discard(): void;
}

/** Writes the one reply to a request. Every method does nothing after the client has disconnected. */
export interface ReplySink {
  /** True once the client has left before the reply was complete. */
  readonly aborted: boolean;
  /** True once a status line was sent. No other reply can be sent after that. */
  readonly started: boolean;
  /** True once the reply is complete, cut or aborted. */
  readonly finished: boolean;
  /**
   * Called once if the client leaves before the reply is complete; at once if it has already left. `error`: why the gateway itself ended the
   * request, which is a part of another one.
   */
  onAbort(callback: (error?: GatewayError) => void): void;
  /**
   * Sets the callback for a reply that outlasts its process. It must end the reply with `error`. A reply without the callback is cut. Absent: the
   * reply is a part of another one.
   */
  onShutdown?(callback: (error: GatewayError) => void): void;
  /**
   * Counts the request to the open ones of its workspace, or of the control plane. False if they are more than the owner's share of
   * REQUESTS_IN_FLIGHT_MAX. Absent: the reply is a part of another one.
   */
  countFor?(owner: string): boolean;
  /** The whole reply at once. */
  send(status: number, headers: HeaderList, body: Uint8Array | string): void;
  /** Begins a streamed reply. With `contentLength` it is framed by length, without it chunked. */
  start(status: number, headers: HeaderList, contentLength?: number): void;
  /** Accepts the whole chunk in all cases. False: the caller must not write more until `onDrain` was called. */
  write(chunk: Uint8Array): boolean;
  /** Sets the callback for all later drains. A second call replaces it. */
  onDrain(callback: () => void): void;
  /** Completes a streamed reply. */
  end(): void;
  /** Closes the connection without completing the reply, so that the client can detect the cut. */
  destroy(): void;
  /**
   * Replies 101 to a WebSocket request; `protocol` is one of those offered, or null. Headers that do not fit are left out from
   * the end. Null if the client has disconnected or the request was not for a WebSocket.
   */
  acceptWebSocket?(headers: HeaderList, protocol: string | null): FrameSocket | null;
}

/** Returns the first value of a header in a flat list. The name is lower-case. */
export function findHeader(headers: HeaderList, name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
}

/** Returns all values of a header by its lower-case name, joined with commas (RFC 9110 §5.3). */
export function findHeaders(headers: HeaderList, name: string): string | undefined {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) values.push(headers[i + 1] as string);
  return values.length === 0 ? undefined : values.join(', ');
}

/** Returns the list without the headers of this name (lower case), or the same list if it has none. */
export function withoutHeader(headers: HeaderList, name: string): HeaderList {
  if (findHeader(headers, name) === undefined) return headers;
  return headers.filter((_, i) => headers[i - (i % 2)] !== name);
}

/** Returns the headers of a flat list as pairs, for `fetch`. */
export function headerPairs(headers: HeaderList): [string, string][] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] as string] as [string, string]] : []));
}

/** Characters of a header value: tabs and the printable ones of latin1. The HTTP client rejects all others. */
export const headerValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
export const notHeaderValue = 'contains characters that are not allowed in a header';

/** Decodes a header value as UTF-8 if its bytes are valid UTF-8, and as latin1 otherwise (RFC 9110 §5.5). */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}
