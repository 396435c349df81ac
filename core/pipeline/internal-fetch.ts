import { GatewayError } from '../contract/errors.ts';
import type { InternalFetch } from '../contract/internal-api.ts';
import { internalTenant, type UpstreamTransport } from '../contract/upstream.ts';

const replyBytesMax = 64 * 1024 * 1024;

/**
 * The internal API over the same transport as everything else that leaves this process. The bearer goes to the control
 * plane's origin and nowhere else.
 */
export function createInternalFetch(transport: UpstreamTransport, controlPlaneUrl: string, clusterKey: string): InternalFetch {
  return (method, path, body, timeoutMs) =>
    new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let status = 0;
      let size = 0;
      const exchange = transport.send(
        {
          tenant: internalTenant,
          origin: controlPlaneUrl,
          path,
          method,
          headers: ['authorization', `Bearer ${clusterKey}`, 'content-type', 'application/json', 'accept', 'application/json'],
          body,
          timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
        },
        {
          onHead(replyStatus) {
            status = replyStatus;
          },
          onData(chunk) {
            chunks.push(chunk);
            size += chunk.length;
            if (size > replyBytesMax) {
              exchange.abort();
              reject(new GatewayError('upstream_invalid', { detail: 'a reply of the internal API is too large' }));
            }
            return true;
          },
          onEnd: () => resolve({ status, body: Buffer.concat(chunks) }),
          onError: reject,
        },
      );
    });
}
