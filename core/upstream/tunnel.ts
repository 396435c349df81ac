import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { buildConnector as BuildConnector, Dispatcher } from 'undici';
import type { EgressProxy } from '../contract/values/addresses/egress-proxy.ts';
import { checkHost } from '../contract/values/addresses/outbound-url.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import {
  type Connect,
  type ConnectorOptions,
  type ConnectTarget,
  createDial,
  givenUp,
  judgeOf,
  refusal,
  refusalOf,
  resolveOf,
} from './connector.ts';
import type { Resolve } from './resolve-name.ts';
import { Client } from './undici-client.ts';

/** Milliseconds for the look-up of this machine. Where only the proxy can resolve names, it may get no reply. */
const lookupMs = 1_000;

/**
 * Opens sockets through a proxy: a CONNECT to the host, then TLS with the host itself. The proxy resolves the name, so that addresses cannot be
 * pinned. Name, port and literal addresses are checked as without a proxy, and so are the addresses that this machine knows for the name. The
 * proxy has to refuse private destinations (`docs/security.md`).
 */
export function createTunnel(target: ConnectTarget, proxy: EgressProxy, options: ConnectorOptions): Connect {
  const { hostname, port, internal } = target;
  const judge = judgeOf(target, options.trusted);
  const dial = createDial(options);
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  return (connectOptions, callback) => {
    let stop: (error: Error) => void = () => {};
    let isOver = false;
    const end = (...result: BuildConnector.CallbackArgs): void => {
      if (isOver) return void result[1]?.destroy();
      isOver = true;
      callback(...result);
    };
    const fail = (error: Error): void => end(error, null);

    const reason = internal ? null : checkHost(hostname, port, options.trusted);
    if (reason !== null) {
      queueMicrotask(() => fail(refusal(reason)));
      return { cancel: () => {} };
    }
    const open = (): void => {
      if (isOver) return;
      const request = openTunnel(proxy, authority, dial, (error, tunnel) => {
        if (error !== null) return fail(error);
        if (isOver) return void tunnel.destroy();
        const socket = dial({ ...connectOptions, httpSocket: tunnel as never }, (...result) => end(...result));
        stop = (cause) => socket.destroy(cause);
      });
      stop = request.cancel;
    };
    if (internal) open();
    else {
      checkKnownAddresses(hostname, resolveOf(target, options), judge, (refused) => {
        if (refused === null) open();
        else fail(refused);
      });
    }
    return {
      cancel() {
        // Later, as the errors of sockets are.
        queueMicrotask(() => fail(givenUp));
        stop(givenUp);
      },
    };
  };
}

/** Calls back once: with a refusal if this machine resolves the name to an address that is not allowed. */
function checkKnownAddresses(
  hostname: string,
  resolve: Resolve,
  judge: (address: string) => string | null,
  callback: (refused: GatewayError | null) => void,
): void {
  let isDone = false;
  const done = (refused: GatewayError | null): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    callback(refused);
  };
  const timer = setTimeout(() => done(null), lookupMs);
  resolve(hostname, (error, addresses) => done(error === null ? refusalOf(hostname, addresses, judge) : null));
}

type TunnelCallback = (...result: [error: Error, tunnel: null] | [error: null, tunnel: Duplex]) => void;

/** Asks the proxy for a tunnel to the host. The callback is called once. */
function openTunnel(
  proxy: EgressProxy,
  authority: string,
  dial: ReturnType<typeof createDial>,
  callback: TunnelCallback,
): { cancel: (error: Error) => void } {
  let socket: Socket | null = null;
  const client = new Client(proxy.origin, {
    ...{ pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 },
    connect: (connectOptions, connected) => {
      socket = dial(connectOptions, connected);
    },
  });
  const fail = (detail: string): void => {
    const message = 'The provider could not be reached through the proxy';
    callback(new GatewayError('upstream_connect', { message, detail: `HTTPS_PROXY: ${detail}` }), null);
  };
  const request: Dispatcher.DispatchOptions = {
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }) },
  };
  // undici emits the errors that a handler throws while it handles an error. Without a listener that would end the process.
  (client as NodeJS.EventEmitter).on('error', (error) => process.emitWarning(error));
  client.dispatch(request, {
    onRequestStart: () => {},
    onRequestUpgrade(_controller, status, _headers, tunnel) {
      if (status >= 200 && status < 300) return callback(null, tunnel);
      tunnel.on('error', () => {}).destroy();
      fail(`it replied ${status} to CONNECT ${authority}`);
    },
    onResponseError: (_controller, error) => fail(messageOf(error)),
  });
  return {
    cancel(error) {
      void client.destroy(error);
      // The client does not close a socket that is still connecting, such as one to a proxy that does not reply to the TLS hello.
      socket?.destroy(error);
    },
  };
}
