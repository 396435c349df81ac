import type { Reply } from '../contract/plugin/plugin.ts';
import { adminBodyLimit } from '../contract/protocol/control-plane-calls/body-limit.ts';
import { internalTenant, type UpstreamTransport } from '../contract/provider/upstream.ts';
import { countryHeader, vouchHeader } from '../contract/values/addresses/client-origin.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { overloaded } from '../contract/values/errors/overloaded.ts';
import { isConnectionHeader } from '../contract/values/http/connection-headers.ts';
import { findHeader, type HeaderList, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';

export interface ForwardOptions {
  readonly transport: UpstreamTransport;
  /** `http://127.0.0.1:8788`. */
  readonly controlPlaneUrl: string;
  readonly clusterKey: string;
  /** Converts an error to the format of the control plane. */
  errorReply(error: GatewayError, format: 'control-plane'): Reply;
}

/** Headers that would state another origin of the request. */
const originHeaders: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  vouchHeader,
  countryHeader,
]);

/**
 * Requests to the control plane share the open requests of this process like one workspace, because a gateway does not know their callers. Slow ones
 * leave places for model calls.
 */
const owner = 'control-plane';

const tooManyOpen = 'Too many requests to the control plane are open in this gateway process (see REQUESTS_IN_FLIGHT_MAX)';

function unreachable(): GatewayError {
  return new GatewayError('unavailable', {
    message: 'The control plane cannot be reached. Try again shortly',
    retryAfterMs: 1000,
  });
}

/**
 * Returns a handler that passes an admin request unchanged to the control plane, so that one base URL serves both. Sends the
 * client's address in `x-forwarded-for`, and its country if known. The client can set neither.
 */
export function createForward(options: ForwardOptions): (request: InboundRequest, sink: ReplySink) => void {
  const fail = (error: GatewayError, sink: ReplySink): void => {
    const { status, headers, body } = options.errorReply(error, 'control-plane');
    sink.send(status, headers, body);
  };
  return (request, sink) => {
    if (sink.countFor?.(owner) === false) return fail(overloaded(tooManyOpen), sink);
    const headers: HeaderList = ['x-forwarded-for', request.remoteAddress, vouchHeader, options.clusterKey];
    if (request.country) headers.push(countryHeader, request.country);
    const host = request.header('host');
    if (host !== undefined) headers.push('x-forwarded-host', host);
    for (let i = 0; i < request.headers.length; i += 2) {
      const name = request.headers[i] as string;
      // The transport would also remove what `Connection` names, which may be a header of this gateway.
      if (!isConnectionHeader(name) && !originHeaders.has(name)) headers.push(name, request.headers[i + 1] as string);
    }
    const exchange = options.transport.send(
      {
        tenant: internalTenant,
        origin: options.controlPlaneUrl,
        path: request.path + (request.query === '' ? '' : `?${request.query}`),
        method: request.method,
        headers,
        body: request.body.length === 0 ? null : request.body,
        timeouts: { connectMs: 2000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 0 },
        bodyBytesMax: adminBodyLimit(request.path),
      },
      {
        onHead(status, replyHeaders) {
          const length = findHeader(replyHeaders, 'content-length');
          sink.onDrain(() => exchange.resume());
          sink.start(status, replyHeaders, length === undefined ? undefined : Number(length));
        },
        onData: (chunk) => sink.write(chunk),
        onEnd: () => sink.end(),
        onError(error) {
          if (sink.started) return sink.destroy();
          const away = error.source === 'upstream';
          fail(away ? unreachable() : error, sink);
        },
      },
    );
    sink.onAbort(() => exchange.abort());
  };
}
