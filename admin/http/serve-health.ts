import type { Hono } from 'hono';
import type { AdminServices } from './admin-services.ts';

/** Serves `GET /health` and `GET /ready` at the root and below each version, without a key. Gateways reply to both themselves. */
export function serveHealth(
  app: Hono,
  versions: readonly string[],
  services: Pick<AdminServices, 'readiness' | 'instances'>,
): void {
  for (const prefix of ['', ...versions]) {
    app.get(`${prefix}/health`, (c) => c.json({ status: 'success', message: 'Server is healthy' }));
    app.get(`${prefix}/ready`, async (c) => {
      const { reasons, warnings } = await services.readiness();
      if (reasons.length === 0) {
        const gateways = await services.instances().catch(() => undefined);
        return c.json({
          ...{ status: 'success', message: 'The control plane is ready', gateways },
          ...(warnings.length > 0 ? { warnings } : {}),
        });
      }
      return c.json({ status: 'failure', message: 'Not ready', reasons }, 503, { 'retry-after': '1' });
    });
  }
}
