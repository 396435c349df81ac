import { internalTenant, type UpstreamTransport } from '../contract/provider/upstream.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { retryAfterMs } from '../contract/values/http/retry-after.ts';
import { readWholeReply } from '../pipeline/attempt/whole-reply.ts';
import type { Post } from '../telemetry/otlp/exporter.ts';

/** A response holds a short message. */
const responseBytesMax = 64 * 1024;

/** Returns a function that sends exports over the transport of all outgoing calls. It follows no redirects. */
export function otlpPoster(transport: UpstreamTransport): Post {
  return async (url, headers, body, timeoutMs) => {
    const { origin, pathname, search } = new URL(url);
    const response = await readWholeReply(
      transport,
      {
        tenant: internalTenant,
        origin,
        path: pathname + search,
        method: 'POST',
        headers: Object.entries(headers).flat(),
        body,
        timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
      },
      responseBytesMax,
      () => new GatewayError('upstream_invalid', { detail: 'the response of the collector is too large' }),
    );
    return { status: response.status, retryAfterMs: retryAfterMs(response.headers), body: response.body };
  };
}
