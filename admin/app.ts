import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { internalPaths } from '../core/contract/protocol/internal-api.ts';
import { routeDescriptions } from '../core/contract/protocol/route-descriptions.ts';
import { registryAlias, unversionedOAuthPaths } from '../core/contract/protocol/unversioned-paths.ts';
import { internalApp } from './gateway-api/routes.ts';
import type { AdminServices } from './http/admin-services.ts';
import { checkRoutes } from './http/check-routes.ts';
import { AdminError } from './http/errors.ts';
import { nearestPath } from './http/nearest-path.ts';
import { failedReply } from './http/reply/failed-reply.ts';
import { errorReply } from './http/reply/write-error.ts';
import { serveHealth } from './http/serve-health.ts';
import { servePublicRoute } from './http/serve-public-route.ts';
import { serveRoute } from './http/serve-route.ts';
import { serveOpenApi } from './openapi/serve-openapi.ts';
import { servePages } from './pages/serve-pages.ts';
import { servePrices } from './pricing/serve-prices.ts';
import { type CachedReplies, createCachedReplies } from './resources/cached-replies/serve-cached-replies.ts';
import { serveExportFiles } from './resources/log-exports/serve-file.ts';
import { isScimPath, toScimNoRoute } from './scim/no-route.ts';
import { scimErrorReply } from './scim/scim-error.ts';
import { adminRoutes, publicRoutes } from './tables.ts';

const versions = ['/v1', '/v2'] as const;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Methods of paths without parameters, including those of the data plane. Such a path may also match a route with an id as its
 * last segment.
 */
const fixedPaths: ReadonlyMap<string, ReadonlySet<string>> = fixedPathsOf([
  ...[...adminRoutes, ...publicRoutes].map(({ method, path }) => `${method} ${path}`),
  ...Object.keys(routeDescriptions),
]);

const routePaths: readonly string[] = [...new Set([...adminRoutes, ...publicRoutes].map(({ path }) => path))];

function fixedPathsOf(routes: readonly string[]): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    if (!/[:{]/.test(path)) paths.set(path, new Set([...(paths.get(path) ?? []), method]));
  }
  return paths;
}

/** Routes below a path that are named in an error. */
const routesBelowMax = 6;

/** `Below it: POST /v1/api-keys/…. ` if there are routes below the path, with this method if possible; else an empty text. */
function routesBelow(method: string, path: string): string {
  const [, version = '', below = ''] = /^(\/v[12])(\/.+?)\/?$/.exec(path) ?? [];
  if (below === '') return '';
  const all = [...adminRoutes, ...publicRoutes].filter((route) => route.path.startsWith(`${below}/`));
  const same = all.filter((route) => route.method === method);
  const named = (same.length > 0 ? same : all).slice(0, routesBelowMax).map((route) => `${route.method} ${version}${route.path}`);
  return named.length === 0 ? '' : `below it: ${named.join(', ')}; `;
}

/** `did you mean …? ` for a misspelt path, the issue of a path without an id, else an empty text. */
function hintFor(path: string): string {
  if (path.includes('//')) return 'an id or slug in it is empty; ';
  const [, version = '', below = ''] = /^(\/v[12])(\/.*)$/.exec(path) ?? [];
  const meant = nearestPath(below, routePaths);
  return meant === null ? '' : `did you mean ${version}${meant}? `;
}

/**
 * Builds the HTTP service: the admin API under `/v1` and `/v2` with its description, the gateways' API under `/internal/v1`, and
 * health. Throws if a route is not declared completely.
 */
export function createApp(services: AdminServices, replies: CachedReplies = createCachedReplies(services)): Hono {
  checkRoutes(adminRoutes, publicRoutes);
  // Servers of the known API ignore a slash at the end of a path, and clients rely on that.
  const app = new Hono({ strict: false });
  serveHealth(app, versions, services);
  app.route(internalPaths.documents.replace('/documents', ''), internalApp(services, replies));
  for (const route of adminRoutes) {
    const serve = serveRoute(route, services);
    for (const version of versions) app.on(route.method, `${version}${route.path}`, serve);
    // Clients of registries expect this path.
    if (route.path === registryAlias.of) app.on(route.method, registryAlias.base + registryAlias.path, serve);
  }
  for (const route of publicRoutes) {
    const serve = servePublicRoute(route, services);
    for (const version of versions) app.on(route.method, `${version}${route.path}`, serve);
    if (unversionedOAuthPaths.has(route.path)) app.on(route.method, route.path, serve);
  }
  servePages(app, versions, services);
  serveExportFiles(app, versions, services);
  servePrices(app, versions, services);
  serveOpenApi(app, versions, adminRoutes, publicRoutes, services);
  app.notFound((c) => {
    const { method, path } = c.req;
    const matching = methods.filter((one) => app.router.match(one, path)[0].length > 0);
    const fixed = fixedPaths.get(path.slice('/v1'.length));
    const allow = matching.length > 0 && fixed ? methods.filter((one) => fixed.has(one)) : matching;
    const shown = `${method} ${path.slice(0, 200)}`;
    const error =
      allow.length === 0
        ? new AdminError(
            'AB08',
            `There is no route ${shown}; ${hintFor(path) || routesBelow(method, path)}GET /v1/docs lists all routes`,
          )
        : new AdminError(
            'AB01',
            `There is no route ${shown}; ${routesBelow(method, path)}the methods of this path are ${allow.join(', ')}`,
            null,
            405,
          );
    const requestId = randomUUID();
    services.logRejection(error, { route: 'none', requestId, keyId: null, workspaceId: null, durationMs: 0 });
    const headers = { 'x-request-id': requestId, ...(allow.length === 0 ? {} : { allow: allow.join(', ') }) };
    return isScimPath(path) ? scimErrorReply(toScimNoRoute(error, path), headers) : errorReply(error, headers);
  });
  app.onError((thrown, c) => failedReply(services, thrown, `${c.req.method} ${routePath(c)}`));
  return app;
}
