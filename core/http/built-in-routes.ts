import { mayReadMetrics } from '../contract/protocol/credentials/metrics-access.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';

/** Routes that the edge serves itself, without a key and without the plugin chain. */
export interface BuiltIns {
  /** Shown by the health route. */
  readonly version: string;
  /** The reasons why requests cannot be served now; empty if the process is ready. */
  unready(): readonly UnreadyReason[];
  /** Prometheus text (version 0.0.4); null = the route does not exist. */
  readonly metrics: (() => Promise<string>) | null;
  /** Bearer that the metrics require. Absent or null: none. */
  readonly metricsToken?: string | null;
}

/** One reason why a process cannot serve. Any client of /ready can read it: no address, path or secret. */
export interface UnreadyReason {
  /** `control-plane`, `records`, `shutdown`, … */
  readonly dependency: string;
  /** The cause, and the setting or step that helps. */
  readonly message: string;
}

/** Replies to the request if it is for one of the edge's own routes. Calls `failed` if the metrics cannot be collected. */
export function replyBuiltIn(
  builtIns: BuiltIns,
  request: InboundRequest,
  sink: ReplySink,
  failed: (error: unknown) => void,
): boolean {
  // Every other path of the API is longer, so the length alone rules out most requests.
  if (request.path.length > longestPath || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  switch (request.path) {
    case '/':
      sink.send(200, text, 'The AI gateway is running. Send requests to /v1; GET /v1/docs documents the API.\n');
      return true;
    case '/health':
    case '/v1/health':
      sink.send(200, json, JSON.stringify({ status: 'success', message: 'Server is healthy', version: builtIns.version }));
      return true;
    case '/ready':
    case '/v1/ready':
      replyReady(builtIns.unready(), sink);
      return true;
    case '/metrics':
      if (builtIns.metrics === null) return false;
      if (!mayReadMetrics(builtIns.metricsToken ?? null, request.header('authorization') ?? undefined)) {
        sink.send(401, [...text, 'www-authenticate', 'Bearer'], 'The metrics require the bearer token of METRICS_TOKEN\n');
        return true;
      }
      builtIns.metrics().then(
        (page) => sink.send(200, metricsText, page),
        (error) => {
          failed(error);
          sink.send(500, text, 'The metrics cannot be read\n');
        },
      );
      return true;
    default:
      return false;
  }
}

function replyReady(reasons: readonly UnreadyReason[], sink: ReplySink): void {
  if (reasons.length === 0) return sink.send(200, json, JSON.stringify({ status: 'success', message: 'Ready' }));
  sink.send(503, [...json, 'retry-after', '1'], JSON.stringify({ status: 'failure', message: 'Not ready', reasons }));
}

const longestPath = '/v1/health'.length;
const text = ['content-type', 'text/plain;charset=UTF-8'];
const json = ['content-type', 'application/json;charset=UTF-8'];
const metricsText = ['content-type', 'text/plain; version=0.0.4; charset=utf-8'];
