import { createRequire } from 'node:module';
import type { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../../../core/contract/values/http/http.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../../core/http/server.ts';

/** The addon builds that every edge test runs against: both if npm could install both. */
export const uwsBinaries: readonly string[] = installedBinaries();

export interface Edge {
  readonly server: HttpServer;
  readonly port: number;
  /** Every request that reached `handle`. */
  readonly handled: InboundRequest[];
  /** Every rejection that the edge reported. */
  readonly refused: { readonly error: GatewayError; readonly request: InboundRequest }[];
  /** Every error the edge reported. */
  readonly failed: unknown[];
  close(): void;
}

export type Handle = (request: InboundRequest, sink: ReplySink) => void;

/** A listening edge without a pipeline. `handle` replies. */
export async function startEdge(
  uwsBinary: string,
  handle: Handle = (_request, sink) => sink.send(200, ['content-type', 'text/plain'], 'ok'),
  more: Partial<Omit<HttpServerOptions, 'settings' | 'handle'>> & {
    settings?: Partial<HttpServerOptions['settings']>;
    /** Default: a free port. */
    port?: number;
  } = {},
): Promise<Edge> {
  const handled: Edge['handled'] = [];
  const refused: Edge['refused'] = [];
  const failed: Edge['failed'] = [];
  const server = await createHttpServer({
    builtIns: { version: '1.2.3', unready: () => [], metrics: null },
    failed: (_where, error) => failed.push(error),
    refused: (error, request) => {
      refused.push({ error, request });
      return 'the-request-id';
    },
    ...more,
    handle(request, sink) {
      handled.push(request);
      handle(request, sink);
    },
    settings: {
      uwsBinary,
      headerBytesMax: 65_536,
      headerPrefix: 'x-svc-',
      headerPrefixAliases: ['x-other-'],
      requestsInFlightMax: 10_000,
      corsOrigins: [],
      tlsCert: null,
      tlsKey: null,
      publicUrl: 'http://127.0.0.1:8787',
      trustedProxies: [],
      countryHeader: null,
      keepAliveWithoutBody: 'on',
      ...more.settings,
    },
  });
  const port = await server.listen('127.0.0.1', more.port ?? 0);
  return { server, port, handled, refused, failed, close: () => server.close() };
}

function installedBinaries(): string[] {
  try {
    createRequire(import.meta.url).resolve('@uwsjs/linux-x64-22');
    return ['uwsjs', 'uws-pack'];
  } catch {
    console.warn('Skipped: edge tests on @uwsjs/linux-x64-22, which npm installs on Linux x64 under Node 22 only');
    return ['uws-pack'];
  }
}
