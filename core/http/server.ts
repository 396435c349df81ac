import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket, us_socket_context_t } from 'uWebSockets.js';
import type { Settings } from '../../config/settings.ts';
import { compileProxyRules, originOf } from '../contract/values/addresses/client-origin.ts';
import { BodyIntake } from '../contract/values/bodies/body-intake.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeaders, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';
import { type BuiltIns, replyBuiltIn } from './built-in-routes.ts';
import { CorkAnchor } from './cork-anchor.ts';
import { compileCors } from './cors.ts';
import { acceptsEmptyNames } from './empty-names.ts';
import { loadUws } from './load-uws.ts';
import { PartBudget } from './part-budget.ts';
import { compileRequestRules, type ParsedRequest, readRequest } from './read-request.ts';
import { UwsRequestBody } from './request-body.ts';
import { openApp } from './tls-app.ts';
import { TurnClock } from './turn-clock.ts';
import { readWebSocketOffer, webSocketBehavior } from './web-socket.ts';
import { type ErrorFormat, errorReply } from './write-error.ts';
import { UwsReplySink } from './write-reply.ts';

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
  /** Accepts no further connections. Safe to call twice. */
  stopListening(): void;
  /**
   * Reads the files of TLS_CERT and TLS_KEY again. New connections get the new certificate, open ones continue. Resolves false if
   * the server does not listen or has no TLS. Rejects if the files cannot be used. The old certificate then stays in use.
   */
  reloadTls(): Promise<boolean>;
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
const sweepMs = 500;
/** Time a drain leaves the addon to send the last bytes of finished replies. The addon does not report when they are sent. */
const flushMs = 500;
/** Time for the last events of replies that outlast the drain. They are sent after the records of their requests. */
const lastEventsMs = 1000;

/**
 * The HTTP edge: parses and guards requests, serves its own routes, passes the rest to `handle`. Deadlines: the addon closes a
 * connection that sends no complete head for 8 to 12 s, one that uploads slower than 16 KB/s over as long, an idle keep-alive
 * connection, and one whose reader takes nothing. The addon fixes these times: 10 s, counted in ticks of 4 s. The total time of a
 * body, and a chunked body that stops, are watched here.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { settings } = options;
  const { uws, name } = await loadUws(settings.uwsBinary, settings.headerBytesMax);
  const emptyNames = await acceptsEmptyNames(uws);
  /** Closes the connection after a request whose length header may be hidden behind an empty name. */
  const closesWithoutBody = emptyNames && settings.keepAliveWithoutBody === 'auto';
  const rules = compileRequestRules([settings.headerPrefix, ...settings.headerPrefixAliases], settings.headerBytesMax);
  const formatOf = options.formatOf ?? defaultFormatOf;
  const cors = compileCors(settings.corsOrigins);
  const proxies = compileProxyRules(settings);
  const addressRules = { publicUrl: settings.publicUrl, isTls: settings.tlsCert !== null };
  const bodyTimeoutMs = options.bodyTimeoutMs ?? bodyTimeoutMsDefault;
  const stallMs = options.stallMs ?? stallMsDefault;
  const sweepEveryMs = Math.min(sweepMs, bodyTimeoutMs, stallMs);
  /** Time of the last sweep. It is precise enough for body deadlines and saves reading the clock for each request. */
  let sweptAtMs = performance.now();
  /** Replies whose request body is still arriving, with the deadline of the body. */
  const receiving = new Map<UwsReplySink, number>();
  let listening: us_listen_socket | null = null;
  let address = { host: '', port: 0 };
  let connections = 0;
  /** Replies that are not complete. */
  const open = new Set<UwsReplySink>();
  let closed = false;
  let anchor: CorkAnchor | null = null;
  /** Conditions that are checked whenever a reply or a connection ends. */
  const waiters = new Set<() => void>();

  const intake = options.intake ?? new BodyIntake();

  const edge = {
    clock: new TurnClock(),
    draining: false,
    anchor: (): CorkAnchor => {
      anchor ??= new CorkAnchor(uws);
      return anchor;
    },
    replyOver(sink: UwsReplySink): void {
      open.delete(sink);
      if (sink.body !== null) receiving.delete(sink);
      for (const ask of waiters) ask();
    },
    callbackFailed(error: unknown): void {
      options.failed('reply callback', error);
    },
  };

  function onRequest(res: HttpResponse, req: HttpRequest): void {
    begin(res, readRequest(rules, req, res), null);
  }

  function onUpgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    begin(res, readRequest(rules, req, res), context);
  }

  function begin(res: HttpResponse, request: ParsedRequest, context: us_socket_context_t | null): void {
    request.addressRules = addressRules;
    if (proxies !== null) {
      const origin = originOf(proxies, request.remoteAddress, (name) => findHeaders(request.headers, name));
      request.remoteAddress = origin.address;
      request.country = origin.country;
      request.isProxied = origin.isProxied;
    }
    const sink = new UwsReplySink(edge, res, request.method === 'HEAD');
    if (context !== null) sink.offer = readWebSocketOffer(request, context);
    open.add(sink);
    res.onAborted(() => sink.abort());
    if (request.bodyLength !== 0) receiveBody(request, sink, res);
    else sink.closeAfter = closesWithoutBody || !request.hasLength;
    if (cors !== null) sink.extraHeaders = cors.replyHeaders(request);
    try {
      sendReply(request, sink);
    } catch (error) {
      options.failed('request handler', error);
      if (sink.started) sink.destroy();
      else refuse(new GatewayError('internal', { cause: error }), request, sink);
    }
  }

  function sendReply(request: ParsedRequest, sink: UwsReplySink): void {
    if (edge.draining) return refuse(new GatewayError('draining'), request, sink);
    if (request.error !== null) return refuse(request.error, request, sink);
    const preflight = cors?.preflight(request);
    if (preflight) return sink.send(204, preflight, '');
    if (replyBuiltIn(options.builtIns, request, sink, (error) => options.failed('metrics', error))) return;
    if (open.size > settings.requestsInFlightMax) return refuse(new GatewayError('overloaded'), request, sink);
    options.handle(request, sink);
  }

  function receiveBody(request: ParsedRequest, sink: UwsReplySink, res: HttpResponse): void {
    const body = new UwsRequestBody(request.bodyLength, sink, intake);
    request.body = body;
    sink.body = body;
    sink.closeAfter = request.bodyLength === -1;
    receiving.set(sink, sweptAtMs + bodyTimeoutMs + sweepEveryMs);
    const budget = new PartBudget();
    res.onData((chunk, last) => {
      sink.enterCallback();
      if (!budget.take()) return sink.expire();
      if (last) receiving.delete(sink);
      try {
        body.receive(chunk, last);
      } catch (error) {
        options.failed('request body consumer', error);
        sink.destroy();
      }
    });
  }

  /** The framing of a rejected request is not trusted, so its connection is closed. */
  function refuse(error: GatewayError, request: ParsedRequest, sink: UwsReplySink): void {
    sink.closeAfter = true;
    const reply = errorReply(error, formatOf(request.method, request.path), recordRefusal(error, request));
    sink.send(reply.status, reply.headers, reply.body);
  }

  /** Returns the request's id, or null: the refusal is sent even if its record cannot be written. */
  function recordRefusal(error: GatewayError, request: ParsedRequest): string | null {
    try {
      return options.refused?.(error, request) ?? null;
    } catch (thrown) {
      options.failed('record of a refusal', thrown);
      return null;
    }
  }

  /** Cuts uploads that exceed their deadline. The map is in order of arrival. */
  function sweep(): void {
    sweptAtMs = performance.now();
    for (const sink of receiving.keys()) sink.body?.sweep(sweptAtMs, stallMs);
    for (const [sink, deadline] of receiving) {
      if (deadline > sweptAtMs) return;
      receiving.delete(sink);
      sink.expire();
    }
  }

  /** Connections by app: the one that listens, and those of earlier certificates that still have connections. */
  const apps = new Map<TemplatedApp, number>();
  let current = routedApp();
  const sweeper = setInterval(sweep, sweepEveryMs);
  sweeper.unref();

  function routedApp(): TemplatedApp {
    const app = openApp(uws, settings);
    // Only a GET with a WebSocket key reaches `onUpgrade`. The addon checks it before `any`.
    app.ws('/*', webSocketBehavior(options.messageBytesMax ?? messageBytesMaxDefault, onUpgrade));
    app.any('/*', onRequest);
    apps.set(app, 0);
    app.filter((_res, change) => countConnection(app, change));
    return app;
  }

  function countConnection(app: TemplatedApp, change: number): void {
    const own = (apps.get(app) ?? 0) + change;
    connections += change;
    if (own > 0 || app === current) apps.set(app, own);
    else apps.delete(app);
    if (change < 0) for (const ask of waiters) ask();
  }

  function listenWith(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
    return new Promise((resolve, reject) => {
      app.listen(host, port, (socket) => {
        if (socket !== false) return resolve(socket);
        reject(new Error(`Cannot listen on ${host}:${port}: the port is in use, or the address does not belong to this machine`));
      });
    });
  }

  function stopListening(): void {
    if (listening === null) return;
    uws.us_listen_socket_close(listening);
    listening = null;
  }

  /** Resolves true when `condition` holds, false when the time has passed first. */
  function settled(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (result: boolean): void => {
        clearTimeout(timer);
        waiters.delete(ask);
        resolve(result);
      };
      const ask = (): void => {
        if (condition()) finish(true);
      };
      const timer = setTimeout(finish, timeoutMs, false);
      waiters.add(ask);
    });
  }

  return {
    uwsName: name,
    acceptsEmptyNames: emptyNames,
    get connections() {
      return connections;
    },
    get openRequests() {
      return open.size;
    },
    async listen(host, port) {
      listening = await listenWith(current, host, port);
      address = { host, port };
      // The anchor must exist before the first session begins.
      edge.anchor();
      return uws.us_socket_local_port(listening);
    },
    stopListening,
    async reloadTls() {
      if (listening === null || settings.tlsCert === null) return false;
      const app = routedApp();
      // Both listen for a moment (SO_REUSEPORT), so that no connection is rejected.
      const socket = await listenWith(app, address.host, address.port).catch((error) => {
        apps.delete(app);
        throw error;
      });
      stopListening();
      if (apps.get(current) === 0) apps.delete(current);
      current = app;
      listening = socket;
      return true;
    },
    async drain(timeoutMs) {
      stopListening();
      edge.draining = true;
      const isQuiet = (): boolean => open.size === 0;
      const late = (await settled(isQuiet, timeoutMs)) ? [] : [...open];
      for (const sink of late) sink.shutDown(new GatewayError('draining'));
      if (late.length > 0) await settled(isQuiet, lastEventsMs);
      await settled(() => connections === 0, flushMs);
      return late.length;
    },
    close() {
      if (closed) return;
      closed = true;
      stopListening();
      clearInterval(sweeper);
      for (const app of apps.keys()) app.close();
      anchor?.close();
    },
  };
}

function defaultFormatOf(_method: string, path: string): ErrorFormat {
  return path.endsWith('/messages') ? 'messages' : 'chat';
}
