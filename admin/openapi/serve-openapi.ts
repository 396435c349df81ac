import type { Hono } from 'hono';
import type { AdminServices } from '../http/admin-services.ts';
import { clientOrigin } from '../http/caller/client-address.ts';
import type { PublicRoute } from '../http/public-route.ts';
import type { AdminRoute } from '../http/route.ts';
import { openApiDocument } from './document.ts';
import { docsPage } from './page.ts';

/** Serves `GET …/openapi.json` and `GET …/docs` without authentication: they describe the API and contain no data. */
export function serveOpenApi(
  app: Hono,
  versions: readonly string[],
  routes: readonly AdminRoute[],
  publicRoutes: readonly PublicRoute[],
  services: AdminServices,
): void {
  const json = once(() => JSON.stringify(openApiDocument(routes, publicRoutes, services.settings)));
  const page = once(() => docsPage(openApiDocument(routes, publicRoutes, services.settings)));
  for (const version of versions) {
    app.get(`${version}/openapi.json`, (c) => {
      services.limits.perAddress.take(clientOrigin(c, services).address);
      return c.body(json(), 200, { 'content-type': 'application/json; charset=utf-8' });
    });
    app.get(`${version}/docs`, (c) => {
      services.limits.perAddress.take(clientOrigin(c, services).address);
      const { html, headers } = page();
      return c.body(html, 200, headers);
    });
  }
}

/** Creates the value on first use and caches it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
