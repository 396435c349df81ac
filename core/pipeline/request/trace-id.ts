import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { InboundRequest } from '../../contract/values/http/http.ts';

/** The characters that a record and a reply header can hold. */
const safe = /^[\x20-\x7e]{1,255}$/;
/** Version ff and ids of zeros are invalid (W3C Trace Context §3.2.2). */
const traceparent = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;

/** Returns `x-svc-trace-id`, otherwise the trace id of a W3C `traceparent`, otherwise the request's own id. */
export function traceIdOf(gatewayHeaders: ReadonlyMap<string, string>, request: InboundRequest, id: string): string {
  const given = gatewayHeaders.get('trace-id');
  if (given !== undefined && safe.test(given)) return given;
  const parent = request.header('traceparent');
  const match = parent === undefined ? null : traceparent.exec(parent);
  return match ? (match[1] as string) : id;
}

/** Rejects a trace id that `traceIdOf` cannot use, because the caller would not find its requests. Throws `bad_request`. */
export function checkTraceId(gatewayHeaders: ReadonlyMap<string, string>, prefix: string): void {
  const given = gatewayHeaders.get('trace-id');
  if (given === undefined || given === '' || safe.test(given)) return;
  const name = `${prefix}trace-id`;
  throw new GatewayError('bad_request', { message: `${name}: expected 1 to 255 printable ASCII characters`, param: name });
}
