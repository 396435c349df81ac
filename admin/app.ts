import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { internalPaths } from '../core/contract/protocol/internal-api.ts';
import { causeOf } from './cause-of.ts';
import { checkRoutes } from './http/check-routes.ts';
import { AdminError } from './http/errors.ts';
import type { AdminServices } from './http/route.ts';
import { servePublicRoute } from './http/serve-public-route.ts';
import { serveRoute } from './http/serve-route.ts';
import { errorReply, toAdminError } from './http/write-error.ts';
import { linkPage } from './identity/link-page.ts';
import { internalApp } from './internal/routes.ts';
import { serveOpenApi } from './openapi/serve-openapi.ts';
import { servePrices } from './pricing/serve-prices.ts';
import { adminRoutes, publicRoutes } from './tables.ts';

const versions = ['/v1', '/v2'] as const;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * The whole HTTP surface: the admin API under `/v1` and `/v2` alike with its description, the gateways' API under `/internal/v1`,
 * health. Throws when a route is not declared completely.
 */
export function createApp(services: AdminServices): Hono {
  checkRoutes(adminRoutes, publicRoutes);
  const app = new Hono();
  app.get('/health', (c) => c.json({ status: 'success', message: 'Server is healthy' }));
  app.get('/ready', async (c) => {
    const reasons = await services.unready();
    if (reasons.length === 0) return c.json({ status: 'success', message: 'The control plane is ready' });
    return c.json({ status: 'failure', message: 'Not ready', reasons }, 503, { 'retry-after': '1' });
  });
  app.route(internalPaths.documents.replace('/documents', ''), internalApp(services));
  for (const route of adminRoutes) {
    const serve = serveRoute(route, services);
    for (const version of versions) app.on(route.method, `${version}${route.path}`, serve);
  }
  for (const route of publicRoutes) {
    const serve = servePublicRoute(route, services);
    for (const version of versions) app.on(route.method, `${version}${route.path}`, serve);
  }
  for (const version of versions) app.get(`${version}/auth/link`, linkPage);
  servePrices(app, versions, services);
  serveOpenApi(app, versions, services);
  app.notFound((c) => {
    const { method, path } = c.req;
    const allow = methods.filter((one) => app.router.match(one, path)[0].length > 0);
    const shown = `${method} ${path.slice(0, 200)}`;
    const error =
      allow.length === 0
        ? new AdminError('AB08', `There is no route ${shown}; GET /v1/docs lists all routes`)
        : new AdminError('AB01', `There is no route ${shown}; the methods of this path are ${allow.join(', ')}`, null, 405);
    const requestId = randomUUID();
    services.logRejection(error, { route: 'none', requestId, keyId: null, workspaceId: null, durationMs: 0 });
    return errorReply(error, { 'x-request-id': requestId, ...(allow.length === 0 ? {} : { allow: allow.join(', ') }) });
  });
  app.onError((thrown) => {
    services.log.error({ cause: causeOf(thrown) }, 'an admin request failed outside its route');
    return errorReply(toAdminError(thrown), {});
  });
  return app;
}
