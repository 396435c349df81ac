import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import { internalTenant, type UpstreamTransport } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { readWholeReply } from '../pipeline/attempt/whole-reply.ts';

const replyBytesMax = 64 * 1024 * 1024;

/**
 * Calls the internal API over the same transport as all other outgoing calls. The bearer is sent to the control plane's origin
 * only.
 */
export function createInternalFetch(transport: UpstreamTransport, controlPlaneUrl: string, clusterKey: string): InternalFetch {
  return (method, path, body, timeoutMs) =>
    readWholeReply(
      transport,
      {
        tenant: internalTenant,
        origin: controlPlaneUrl,
        path,
        method,
        headers: ['authorization', `Bearer ${clusterKey}`, 'content-type', 'application/json', 'accept', 'application/json'],
        body,
        timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
      },
      replyBytesMax,
      () => new GatewayError('upstream_invalid', { detail: 'a reply of the internal API is too large' }),
    ).catch((thrown: unknown) => {
      throw ofControlPlane(thrown, controlPlaneUrl);
    });
}

/** The transport's errors name providers; log lines about these calls must name the control plane. */
function ofControlPlane(thrown: unknown, url: string): GatewayError {
  const error = toGatewayError(thrown);
  const reason = error.detail ?? error.code;
  return new GatewayError(error.code, {
    message: `The control plane at ${url} did not reply: ${reason}`,
    detail: reason,
    cause: thrown,
  });
}
