import type { InboundRequest } from '../contract/http.ts';

const safe = /^[\x21-\x7e]{1,255}$/;
const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** `x-svc-trace-id`, else the trace id of a W3C `traceparent`, else the request's own id. */
export function traceIdOf(gatewayHeaders: ReadonlyMap<string, string>, request: InboundRequest, id: string): string {
  const given = gatewayHeaders.get('trace-id');
  if (given !== undefined && safe.test(given)) return given;
  const parent = request.header('traceparent');
  const match = parent === undefined ? null : traceparent.exec(parent);
  return match ? (match[1] as string) : id;
}
