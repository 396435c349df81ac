import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { Registry } from 'prom-client';
import type { Settings } from '../config/settings.ts';
import { createApp } from './app.ts';
import { createServeFind } from './gateway-api/serve-find.ts';
import type { AdminServices } from './http/admin-services.ts';
import { countRequests, createRequestCount } from './http/count-requests.ts';
import { invalid } from './http/errors.ts';
import { failedReply } from './http/reply/failed-reply.ts';
import { ambiguityOf } from './http/request/ambiguity-of.ts';
import { excessOf } from './http/request/excess-of.ts';
import type { CachedReplies } from './resources/cached-replies/serve-cached-replies.ts';

/** Longer than common proxies keep idle connections (60 s), so that none sends a request on a connection that is being closed. */
const idleConnectionMs = 75_000;

interface Parts {
  readonly services: AdminServices;
  readonly replies: CachedReplies;
  readonly registry: Registry;
  readonly isStopping: () => boolean;
}

/** Creates the HTTP server of the control plane, which does not listen yet. It rejects ambiguous and excessive heads before the routes. */
export function createControlPlaneServer({ services, replies, registry, isStopping }: Parts): Server {
  const app = createApp(services, replies);
  const begin = createRequestCount(registry);
  const fetch = countRequests(services.settings, registry, begin, (request, ...rest) => {
    const [{ incoming }] = rest as [HttpBindings];
    const issue = ambiguityOf(incoming);
    const refusal = issue === null ? excessOf(incoming) : invalid(issue);
    return refusal === null ? app.fetch(request, ...(rest as object[])) : failedReply(services, refusal, 'none');
  });
  const servesFind = createServeFind(services, replies, begin);
  const server = createAdaptorServer({
    fetch,
    createServer: ((options: ServerOptions, serve: RequestListener) =>
      createServer(options, (request, response) => {
        // The gateway then opens a connection to another control plane before this one stops.
        if (isStopping()) response.shouldKeepAlive = false;
        if (!servesFind(request, response)) serve(request, response);
      })) as typeof createServer,
  }) as Server;
  server.keepAliveTimeout = idleConnectionMs;
  return server;
}

/** Resolves with the port. Rejects if the address is not available. */
export function listen(server: Server, settings: Settings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Exclusive: in a cluster child the socket is this process's own instead of a hop through the primary.
    server.listen({ host: settings.controlPlaneHost, port: settings.controlPlanePort, exclusive: true }, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
