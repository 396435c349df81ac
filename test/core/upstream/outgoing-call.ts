import type { UpstreamCall, UpstreamExchange, UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import type { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import { createTransport, type TransportOptions } from '../../../core/upstream/transport.ts';
import { newGate } from '../../support/gate.ts';
import { within } from '../../support/until.ts';

export interface SentCall {
  readonly exchange: UpstreamExchange;
  /** Names of the handler's calls in order; `data` once per chunk. */
  readonly events: readonly string[];
  readonly chunks: readonly Uint8Array[];
  /** Resolves with the head of the response. Rejects with the error if there is none. */
  readonly head: Promise<{ status: number; headers: HeaderList }>;
  /** Resolves with the whole body at the end; rejects with the GatewayError. */
  readonly body: Promise<Buffer>;
  /** Resolves with the error. Rejects if the response completed. */
  readonly error: Promise<GatewayError>;
  /** Resolves at the first chunk. */
  readonly firstChunk: Promise<Uint8Array>;
}

export interface SendOptions {
  /** Return value of `onData`; default true. */
  readonly takes?: (chunk: Uint8Array, exchange: UpstreamExchange) => boolean;
}

/** A transport that may call this machine; close it in the test. */
export function localTransport(options: Partial<TransportOptions> = {}): UpstreamTransport {
  return createTransport({ trusted: parseTrustedHosts(['127.0.0.1']), ...options });
}

/** Sends a call with defaults and records the calls of its handler. */
export function send(
  transport: UpstreamTransport,
  call: Partial<UpstreamCall> & { origin: string },
  options: SendOptions = {},
): SentCall {
  const events: string[] = [];
  const chunks: Uint8Array[] = [];
  const head = newGate<{ status: number; headers: HeaderList }>();
  const body = newGate<Buffer>();
  const error = newGate<GatewayError>();
  const firstChunk = newGate<Uint8Array>();
  const exchange = transport.send(
    { tenant: 'tenant-a', path: '/', method: 'GET', headers: [], body: null, timeouts: noTimeouts, ...call },
    {
      onHead(status, headers) {
        events.push('head');
        head.open({ status, headers });
      },
      onData(chunk) {
        events.push('data');
        chunks.push(chunk);
        firstChunk.open(chunk);
        return options.takes?.(chunk, exchange) ?? true;
      },
      onEnd() {
        events.push('end');
        body.open(Buffer.concat(chunks));
        error.fail(new Error('the reply ended well'));
      },
      onError(failure) {
        events.push('error');
        head.fail(failure);
        body.fail(failure);
        firstChunk.fail(failure);
        error.open(failure);
      },
    },
  );
  return {
    exchange,
    events,
    chunks,
    // Created lazily, so that a promise that a test does not await cannot fail it.
    get head() {
      return within(head.opened, 'a head');
    },
    get body() {
      return within(body.opened, 'the end of the reply', 50_000);
    },
    get error() {
      return within(error.opened, 'an error', 50_000);
    },
    get firstChunk() {
      return within(firstChunk.opened, 'a chunk');
    },
  };
}

export const noTimeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 } as const;
