import type { Context, Hono } from 'hono';
import type { AdminServices } from '../http/admin-services.ts';
import { clientOrigin } from '../http/caller/client-address.ts';
import { wireGeneral, wirePrices } from './wire-prices.ts';

/**
 * Serves `GET /model-configs/{pricing,general}/{provider}/{model}`, without authentication and without a version prefix. Model
 * names may contain slashes.
 */
export function servePrices(app: Hono, versions: readonly string[], services: AdminServices): void {
  const serve = (read: (provider: string, model: string) => object | null) => (c: Context) => {
    services.limits.perAddress.take(clientOrigin(c, services).address);
    const { provider = '', model = '' } = c.req.param();
    const found = model.length > 255 ? null : read(provider, model);
    return found ? c.json(found) : c.json({ error: 'Model not found' }, 404);
  };
  for (const prefix of ['', ...versions]) {
    const prices = (provider: string, model: string) => wirePrices(provider, model, new Date(services.clock.now()));
    app.get(`${prefix}/model-configs/pricing/:provider/:model{[^]+}`, serve(prices));
    app.get(`${prefix}/model-configs/general/:provider/:model{[^]+}`, serve(wireGeneral));
  }
}
