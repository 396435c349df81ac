import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { compileProxyRules, originOf } from '../contract/values/addresses/client-origin.ts';
import { BodyIntake } from '../contract/values/bodies/body-intake.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeaders } from '../contract/values/http/http.ts';
import { FairShares } from '../contract/values/sharing/fair-shares.ts';
import { OpenItems } from '../contract/values/sharing/open-items.ts';
import { replyBuiltIn } from './built-in-routes.ts';
import { compileCors } from './cors.ts';
import { PartBudget } from './part-budget.ts';
import { compileRequestRules, type ParsedRequest, readRequest } from './read-request.ts';
import type { ReplyEdge } from './reply-edge.ts';
import { UwsRequestBody } from './request-body.ts';
import type { HttpServerOptions } from './server.ts';
import { TurnClock } from './turn-clock.ts';
import type { UploadDeadlines } from './upload-deadlines.ts';
import { readWebSocketOffer } from './web-socket.ts';
import { type ErrorFormat, errorReply } from './write-error.ts';
import { UwsReplySink } from './write-reply.ts';

/** The parts of a server that requests use. */
export interface RequestParts {
  readonly uploads: UploadDeadlines;
  /** True when the addon accepts header lines with an empty name, see empty-names.ts. */
  readonly acceptsEmptyNames: boolean;
  readonly anchor: ReplyEdge['anchor'];
  replyEnded(): void;
}

/** Callbacks of the addon, and the replies that have not ended. */
export interface AcceptedRequests {
  onRequest(res: HttpResponse, req: HttpRequest): void;
  onUpgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void;
  readonly open: OpenItems<UwsReplySink>;
  /** Closes each connection after its reply from now on. */
  leave(): void;
  /** Replies 503 `draining` to requests from now on, and closes their connections. */
  drain(): void;
}

/** Parses and guards requests, replies to the edge's own routes, and passes the others to `options.handle`. */
export function acceptRequests(options: HttpServerOptions, parts: RequestParts): AcceptedRequests {
  const { settings } = options;
  const { uploads } = parts;
  const rules = compileRequestRules(
    [settings.headerPrefix, ...settings.headerPrefixAliases],
    settings.headerBytesMax,
    options.loopMark,
  );
  const cors = compileCors(settings.corsOrigins);
  const proxies = compileProxyRules(settings);
  const addressRules = { publicUrl: settings.publicUrl, isTls: settings.tlsCert !== null };
  /** Closes the connection after a request whose length header may be hidden behind an empty name. */
  const closesWithoutBody = parts.acceptsEmptyNames && settings.keepAliveWithoutBody === 'auto';
  const formatOf = options.formatOf ?? defaultFormatOf;
  const intake = options.intake ?? new BodyIntake();
  const open = new OpenItems<UwsReplySink>();
  /** Open requests of each workspace, and of the control plane. */
  const shares = new FairShares();

  const edge = {
    clock: new TurnClock(),
    leaving: false,
    draining: false,
    anchor: parts.anchor,
    replyOver(sink: UwsReplySink): void {
      open.remove(sink.openIndex);
      sink.openIndex = -1;
      if (sink.owner !== null) shares.add(sink.owner, -1);
      if (sink.body !== null) {
        uploads.end(sink);
        sink.body.dropUnread();
      }
      parts.replyEnded();
    },
    countFor(sink: UwsReplySink, owner: string): boolean {
      if (sink.openIndex < 0) return true;
      const free = settings.requestsInFlightMax - open.size + 1;
      if (shares.exceeds(owner, 1, free)) return false;
      shares.add(owner, 1);
      sink.owner = owner;
      return true;
    },
    callbackFailed(error: unknown): void {
      options.failed('reply callback', error);
    },
  };

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
    sink.openIndex = open.add(sink);
    res.onAborted(() => sink.abort());
    if (request.bodyLength !== 0) receiveBody(request, sink, res);
    else sink.closeAfter = closesWithoutBody || !request.hasLength;
    if (cors !== null) sink.extraHeaders = cors.replyHeaders(request);
    try {
      reply(request, sink);
    } catch (error) {
      options.failed('request handler', error);
      if (sink.started) sink.destroy();
      else refuse(new GatewayError('internal', { cause: error }), request, sink);
    }
  }

  function reply(request: ParsedRequest, sink: UwsReplySink): void {
    if (edge.draining) return refuse(new GatewayError('draining'), request, sink);
    if (request.error !== null) return refuse(request.error, request, sink);
    const preflight = cors?.preflight(request);
    if (preflight) return sink.send(204, preflight, '');
    if (replyBuiltIn(options.builtIns, request, sink, (error) => options.failed('metrics', error))) return;
    // Requests to the control plane call no provider, so they make no circle.
    if (request.cameBack && formatOf(request.method, request.path) !== 'control-plane')
      return refuse(new GatewayError('loop_detected'), request, sink);
    if (open.size > settings.requestsInFlightMax) return refuse(new GatewayError('overloaded'), request, sink);
    options.handle(request, sink);
  }

  function receiveBody(request: ParsedRequest, sink: UwsReplySink, res: HttpResponse): void {
    const body = new UwsRequestBody(request.bodyLength, sink, intake);
    request.body = body;
    sink.body = body;
    sink.closeAfter = request.bodyLength === -1;
    uploads.begin(sink);
    const budget = new PartBudget();
    res.onData((chunk, last) => {
      sink.enterCallback();
      if (!budget.take()) return sink.expire();
      if (last) uploads.end(sink);
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
    const { status, headers, body } = errorReply(error, formatOf(request.method, request.path), recordRefusal(error, request));
    sink.send(status, headers, body);
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

  return {
    onRequest: (res, req) => begin(res, readRequest(rules, req, res), null),
    onUpgrade: (res, req, context) => begin(res, readRequest(rules, req, res), context),
    open,
    leave() {
      edge.leaving = true;
    },
    drain() {
      edge.leaving = true;
      edge.draining = true;
    },
  };
}

function defaultFormatOf(_method: string, path: string): ErrorFormat {
  return path.endsWith('/messages') ? 'messages' : 'chat';
}
