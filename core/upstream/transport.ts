import {
  internalTenant,
  metadataOrigins,
  metadataTenant,
  type UpstreamCall,
  type UpstreamExchange,
  type UpstreamHandler,
  type UpstreamTransport,
} from '../contract/provider/upstream.ts';
import type { EgressProxy } from '../contract/values/addresses/egress-proxy.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { passedNetworks } from '../contract/values/http/passed-networks.ts';
import { type Connect, type ConnectorOptions, createConnector } from './connector.ts';
import { Deadlines } from './deadlines.ts';
import { Exchange, type ExchangeServices } from './exchange.ts';
import { Pool } from './pool.ts';
import { createTunnel } from './tunnel.ts';
import { openWebSocket } from './web-socket.ts';

export interface TransportOptions extends ConnectorOptions {
  /** Origins of the control plane. They are allowed at private addresses, for calls of `internalTenant` only. */
  readonly internalOrigins?: readonly string[];
  /** Default: every host is called directly. */
  readonly proxy?: EgressProxy | null;
  /** Allows calls of `metadataTenant` to reach the metadata services of clouds; default false. */
  readonly machineIdentity?: boolean;
  /** Origin of the identity endpoint, which `metadataTenant` may then call too; default none. */
  readonly identityOrigin?: string | null;
  /** The entry of this installation in `cdn-loop` of every call to others; absent: none. */
  readonly loopMark?: string;
  /** Time for which an idle connection is kept. Default 30 s. */
  readonly keepAliveMs?: number;
  /** Maximum header block of a reply. Default 64 KiB. A larger one is `upstream_invalid`. */
  readonly headerBytesMax?: number;
  /**
   * Maximum number of pairs of tenant and origin with open pools. Default 1000. Beyond it the least recently used pool is
   * retired.
   */
  readonly poolsMax?: number;
  /** Maximum size of a WebSocket message in bytes. Default 16 MiB. */
  readonly messageBytesMax?: number;
  /** Monotonic milliseconds; may be read once per turn of the event loop. Default: `performance.now`. */
  readonly now?: () => number;
  /** Receives errors of a handler that no caller can catch. Default: a process warning. */
  readonly onHandlerError?: (error: unknown) => void;
}

/**
 * Sends every HTTP request of the gateway. It never follows redirects, never decompresses and never changes the path. Connections
 * are HTTP/1.1, one request at a time, in pools per tenant and origin.
 */
export function createTransport(options: TransportOptions): UpstreamTransport {
  const { keepAliveMs = 30_000, headerBytesMax = 64 * 1024, poolsMax = 1000, onHandlerError = warn } = options;
  const { messageBytesMax = 16 * 1024 * 1024 } = options;
  const internal = new Set((options.internalOrigins ?? []).map((origin) => new URL(origin).origin));
  const pools = new Map<string, Pool>();
  const retiring = new Set<Promise<void>>();
  let running = 0;
  let closing: Promise<void> | null = null;
  let onQuiet = () => {};
  const services: ExchangeServices = {
    deadlines: new Deadlines(onHandlerError),
    now: options.now ?? (() => performance.now()),
    onHandlerError,
    onOver: () => {
      running--;
      if (running === 0) onQuiet();
    },
  };

  /** Checks which origins may be called; the connector checks which addresses may be connected to. */
  const openWay = (call: UpstreamCall): { url: URL; connect: Connect } | GatewayError => {
    const url = safeParseOrigin(call.origin);
    if (url === null) return new GatewayError('invalid_custom_host', { detail: `not an origin: ${call.origin}` });
    const metadata = call.tenant === metadataTenant;
    const identity = metadata && call.origin === options.identityOrigin;
    if (metadata && !(options.machineIdentity === true && (identity || metadataOrigins.includes(call.origin)))) {
      return new GatewayError('forbidden', { detail: `the metadata tenant called ${call.origin}` });
    }
    const target = {
      ...{ metadata, identity },
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
      internal: call.tenant === internalTenant && internal.has(url.origin),
    };
    const proxy = !metadata && options.proxy?.covers(url.origin) ? options.proxy : null;
    return { url, connect: proxy === null ? createConnector(target, options) : createTunnel(target, proxy, options) };
  };

  const openPool = (key: string, call: UpstreamCall): Pool | GatewayError => {
    const way = openWay(call);
    if (way instanceof GatewayError) return way;
    const pool = new Pool({ ...way, keepAliveMs, headerBytesMax, onHandlerError });
    if (pools.size >= poolsMax) retireOldest();
    pools.set(key, pool);
    return pool;
  };

  const retireOldest = () => {
    let oldest: [string, Pool] | null = null;
    for (const entry of pools) if (oldest === null || entry[1].lastUsedMs < oldest[1].lastUsedMs) oldest = entry;
    if (oldest === null) return;
    pools.delete(oldest[0]);
    const retired = oldest[1].retire().finally(() => retiring.delete(retired));
    retiring.add(retired);
  };

  const drain = async () => {
    if (running > 0) {
      await new Promise<void>((resolve) => {
        onQuiet = resolve;
      });
    }
    await Promise.all([...retiring, ...[...pools.values()].map((pool) => pool.retire())]);
  };

  return {
    send(given, handler) {
      const call = marked(given, options.loopMark);
      const refused = refusalOf(call, closing !== null);
      if (refused !== null) return refuse(handler, refused, onHandlerError);
      if (call.webSocket) {
        // A session has a connection of its own, which is never shared.
        const way = openWay(call);
        if (way instanceof GatewayError) return refuse(handler, way, onHandlerError);
        running++;
        return openWebSocket(call, guarded(handler, onHandlerError), way.connect, {
          messageBytesMax,
          headerBytesMax,
          onOver: services.onOver,
        });
      }
      const key = `${call.tenant} ${call.origin}`;
      const pool = pools.get(key) ?? openPool(key, call);
      if (pool instanceof GatewayError) return refuse(handler, pool, onHandlerError);
      running++;
      const exchange = new Exchange(call, handler, pool, services);
      exchange.start();
      return exchange;
    },
    close() {
      closing ??= drain();
      return closing;
    },
  };
}

/** Returns the call with the entry of this installation, by which a gateway that the call leads back to detects the circle. */
function marked(call: UpstreamCall, loopMark: string | undefined): UpstreamCall {
  if (loopMark === undefined || call.tenant === internalTenant || call.tenant === metadataTenant) return call;
  return { ...call, headers: [...call.headers, passedNetworks, loopMark] };
}

/** Returns the error of a call that is rejected before a connection is chosen; null if there is none. */
function refusalOf(call: UpstreamCall, closing: boolean): GatewayError | null {
  if (closing) return new GatewayError('draining');
  if (!call.path.startsWith('/')) return new GatewayError('internal', { detail: `path without a leading slash: ${call.path}` });
  const { body, bodyBytesMax } = call;
  if (bodyBytesMax !== undefined && body !== null && body.length > bodyBytesMax) {
    return new GatewayError('body_too_large', { message: `Payload size exceeds the limit of ${bodyBytesMax} bytes` });
  }
  return null;
}

/** Wraps the handler so that its errors go to `onHandlerError`: `ws` and `node:http` would emit them without a listener. */
function guarded(handler: UpstreamHandler, onHandlerError: (error: unknown) => void): UpstreamHandler {
  const safely = <Args extends unknown[]>(callBack: (...args: Args) => void): ((...args: Args) => void) => {
    return (...args) => {
      try {
        callBack(...args);
      } catch (error) {
        onHandlerError(error);
      }
    };
  };
  return {
    onHead: safely((status, headers) => handler.onHead(status, headers)),
    onWebSocket: safely((headers, socket, protocol) => handler.onWebSocket?.(headers, socket, protocol)),
    onData: (chunk) => handler.onData(chunk),
    onEnd: safely(() => handler.onEnd()),
    onError: safely((error) => handler.onError(error)),
  };
}

/** An exchange that was never started. The handler is called after the caller has received its handle. */
function refuse(handler: UpstreamHandler, error: GatewayError, onHandlerError: (error: unknown) => void): UpstreamExchange {
  let aborted = false;
  queueMicrotask(() => {
    if (aborted) return;
    try {
      handler.onError(error);
    } catch (error) {
      onHandlerError(error);
    }
  });
  return {
    resume: () => {},
    abort: () => {
      aborted = true;
    },
  };
}

function safeParseOrigin(origin: string): URL | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  // Throws unless the URL has only scheme, host and port. With credentials, path, query or fragment it would differ from its
  // origin.
  return url.href === `${url.origin}/` ? url : null;
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
