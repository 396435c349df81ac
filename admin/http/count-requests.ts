import { Counter, Histogram, Registry } from 'prom-client';
import type { Settings } from '../../config/settings.ts';
import { mayReadMetrics } from '../../core/contract/protocol/credentials/metrics-access.ts';

/** Clients can invent other methods; each would create a series. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Requests of directories, below the id of an organisation. Administrators use other paths below `/scim`. */
const ofDirectory = /^\/v\d\/scim\/[0-9a-f-]{36}\//i;

function surfaceOf(path: string): 'admin' | 'scim' | 'internal' {
  if (path.startsWith('/internal/')) return 'internal';
  return ofDirectory.test(path) ? 'scim' : 'admin';
}

/** Begins to count a request. The returned function ends it with its status. */
export type BeginCount = (surface: 'admin' | 'scim' | 'internal', method: string) => (status: number) => void;

type Fetch = (request: Request, ...rest: unknown[]) => Response | Promise<Response>;

/** Registers the metrics of requests to the control plane. */
export function createRequestCount(registry: Registry): BeginCount {
  const requests = new Counter({
    name: 'svc_admin_requests_total',
    help: 'Requests to the control plane by surface (admin, scim or internal), method and status',
    labelNames: ['surface', 'method', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_admin_request_duration_seconds',
    help: 'Seconds from the arrival of a control-plane request to its reply, by surface',
    labelNames: ['surface'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return (surface, method) => {
    const stop = durations.startTimer({ surface });
    return (status) => {
      stop();
      requests.inc({ surface, method: methods.has(method) ? method : 'other', status });
    };
  };
}

/**
 * Wraps the app's `fetch`: counts every request of the control plane, and serves `GET /metrics` with the metrics of `registry`.
 */
export function countRequests(
  settings: Pick<Settings, 'metrics' | 'metricsToken'>,
  registry: Registry,
  begin: BeginCount,
  fetch: Fetch,
): Fetch {
  return async (request, ...rest) => {
    const { method } = request;
    const path = URL.parse(request.url)?.pathname ?? '';
    if (path === '/metrics' && method === 'GET' && settings.metrics) {
      if (!mayReadMetrics(settings.metricsToken, request.headers.get('authorization') ?? undefined)) {
        const headers = { 'content-type': 'text/plain; charset=utf-8', 'www-authenticate': 'Bearer' };
        return new Response('The metrics require the bearer token of METRICS_TOKEN\n', { status: 401, headers });
      }
      return new Response(await registry.metrics(), { headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE } });
    }
    const end = begin(surfaceOf(path), method);
    const reply = await fetch(request, ...rest);
    end(reply.status);
    return reply;
  };
}
