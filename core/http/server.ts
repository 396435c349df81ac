import type { Settings } from '../../config/settings.ts';
import type { BodyIntake } from '../contract/values/bodies/body-intake.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';
import { acceptRequests } from './accept-requests.ts';
import type { BuiltIns } from './built-in-routes.ts';
import { CorkAnchor } from './cork-anchor.ts';
import { acceptsEmptyNames } from './empty-names.ts';
import { Listener } from './listener.ts';
import { loadUws } from './load-uws.ts';
import { UploadDeadlines } from './upload-deadlines.ts';
import { Waiters } from './waiters.ts';
import { webSocketBehavior } from './web-socket.ts';
import type { ErrorFormat } from './write-error.ts';

export interface HttpServerOptions {
  readonly settings: Pick<
    Settings,
    | 'uwsBinary'
    | 'headerBytesMax'
    | 'headerPrefix'
    | 'headerPrefixAliases'
    | 'requestsInFlightMax'
    | 'corsOrigins'
    | 'tlsCert'
    | 'tlsKey'
    | 'publicUrl'
    | 'trustedProxies'
    | 'countryHeader'
    | 'keepAliveWithoutBody'
  >;
  /** Handles every request that passed the guard. An error thrown synchronously becomes a 500. */
  handle(request: InboundRequest, sink: ReplySink): void;
  /** Records a request that the edge rejected itself, before the reply is sent. Returns the request's id for the reply. */
  refused?(error: GatewayError, request: InboundRequest): string;
  /** The entry of this installation in `cdn-loop`; absent: circles are not detected. */
  readonly loopMark?: string;
  /** The format that errors take on a method and path. Absent: `messages` on paths that end in `/messages`, else `chat`. */
  formatOf?(method: string, path: string): ErrorFormat;
  readonly builtIns: BuiltIns;
  /** Receives errors of the service's own code. `where` is a short text for the log. */
  failed(where: string, error: unknown): void;
  /** Maximum time from the head of a request to the end of its body, in milliseconds. Default 10 minutes. */
  readonly bodyTimeoutMs?: number;
  /**
   * Maximum time without a byte of a chunked body, in milliseconds. Default 6 s, because the addon closes the connection after 8
   * to 12 s.
   */
  readonly stallMs?: number;
  /** Maximum message size of a WebSocket client, in bytes. Default 16 MiB. */
  readonly messageBytesMax?: number;
  /** Shares the event loop between large bodies. Default: one for the uploads of this server. */
  readonly intake?: BodyIntake;
}

export interface HttpServer {
  /** Which addon was loaded. */
  readonly uwsName: string;
  /** True when the addon accepts header lines with an empty name, see empty-names.ts. */
  readonly acceptsEmptyNames: boolean;
  /** Open client connections. */
  readonly connections: number;
  /** Requests whose reply is not complete. */
  readonly openRequests: number;
  /**
   * Binds and resolves with the port (0 = any free one). Several processes may share a port (SO_REUSEPORT). Rejects if another
   * process holds the port or the address is not one of this machine.
   */
  listen(host: string, port: number): Promise<number>;
  /**
   * Reads the files of TLS_CERT and TLS_KEY again. New connections get the new certificate, open ones continue. Resolves false if
   * the server does not listen or has no TLS. Rejects if the files cannot be used. The old certificate then stays in use.
   */
  reloadTls(): Promise<boolean>;
  /**
   * Serves on, but closes each connection after its reply. A client whose balancer sees TCP connections only then opens one to
   * another gateway before the drain begins.
   */
  leave(): void;
  /**
   * Stops listening. Resolves when the connections that were accepted before have ended, or after `arrivalMs`: their requests may still be on
   * their way, and are served.
   */
  stopListening(): Promise<void>;
  /**
   * Stops listening and replies 503 `draining` to new requests on open connections. Resolves with 0 when the last open request has
   * ended. After `timeoutMs` it ends the remaining ones with that error and resolves with their number.
   */
  drain(timeoutMs: number): Promise<number>;
  /** Closes everything at once. Replies in progress are cut. Safe to call twice. */
  close(): void;
}

const bodyTimeoutMsDefault = 600_000;
const stallMsDefault = 6_000;
const messageBytesMaxDefault = 16 * 1024 * 1024;
/** Time a drain leaves the addon to send the last bytes of finished replies. The addon does not report when they are sent. */
const flushMs = 500;
/** Time that requests of connections accepted last have to arrive. */
const arrivalMs = 500;
/** Time for the last events of replies that outlast the drain. They are sent after the records of their requests. */
const lastEventsMs = 1000;

/**
 * The HTTP edge. Deadlines: the addon closes a connection that sends no complete head for 8 to 12 s, one that uploads slower than
 * 16 KB/s over as long, an idle keep-alive connection, and one whose reader takes nothing. The addon fixes these times: 10 s,
 * counted in ticks of 4 s. `UploadDeadlines` watches the total time of a body, and chunked bodies that stop.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { settings, bodyTimeoutMs = bodyTimeoutMsDefault, stallMs = stallMsDefault } = options;
  const { messageBytesMax = messageBytesMaxDefault } = options;
  const { uws, name } = await loadUws(settings.uwsBinary, settings.headerBytesMax);
  const emptyNames = await acceptsEmptyNames(uws);
  const uploads = new UploadDeadlines({ bodyTimeoutMs, stallMs });
  const waiters = new Waiters();
  let corkAnchor: CorkAnchor | null = null;
  const anchor = (): CorkAnchor => {
    corkAnchor ??= new CorkAnchor(uws);
    return corkAnchor;
  };
  const requests = acceptRequests(options, {
    ...{ uploads, acceptsEmptyNames: emptyNames, anchor },
    replyEnded: () => waiters.changed(),
  });
  const listener = new Listener({
    ...{ uws, settings },
    route(app) {
      // Only a GET with a WebSocket key reaches `onUpgrade`. The addon checks it before `any`.
      app.ws('/*', webSocketBehavior(messageBytesMax, requests.onUpgrade));
      app.any('/*', requests.onRequest);
    },
    connectionEnded: () => waiters.changed(),
  });
  let closed = false;

  return {
    uwsName: name,
    acceptsEmptyNames: emptyNames,
    get connections() {
      return listener.connections;
    },
    get openRequests() {
      return requests.open.size;
    },
    async listen(host, port) {
      const bound = await listener.listen(host, port);
      // The anchor must exist before the first session begins.
      anchor();
      return bound;
    },
    reloadTls: () => listener.reloadTls(),
    leave: () => requests.leave(),
    async stopListening() {
      await listener.acceptWaiting();
      listener.stop();
      await waiters.settled(() => listener.connections === 0, arrivalMs);
    },
    async drain(timeoutMs) {
      listener.stop();
      requests.drain();
      const isQuiet = (): boolean => requests.open.size === 0;
      const late = (await waiters.settled(isQuiet, timeoutMs)) ? [] : [...requests.open];
      for (const sink of late) sink.shutDown(new GatewayError('draining'));
      if (late.length > 0) await waiters.settled(isQuiet, lastEventsMs);
      await waiters.settled(() => listener.connections === 0, flushMs);
      return late.length;
    },
    close() {
      if (closed) return;
      closed = true;
      uploads.close();
      listener.close();
      corkAnchor?.close();
    },
  };
}
