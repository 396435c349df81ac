import { ownStorePath } from '../contract/provider/own-store.ts';
import { internalTenant, type UpstreamHandler, type UpstreamSender } from '../contract/provider/upstream.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/**
 * Returns the sender of calls to the service's own store, at `ownStoreOrigin`. They go to the control plane with the cluster key. Only the
 * paths of the store can be reached this way.
 */
export function ownStoreSender(network: UpstreamSender, controlPlaneUrl: string, clusterKey: string): UpstreamSender {
  return {
    send(call, handler) {
      if (!ownStorePath.test(call.path) || call.webSocket) {
        queueMicrotask(() =>
          handler.onError(new GatewayError('not_found', { message: 'The service’s own store has no such path' })),
        );
        return { resume: () => {}, abort: () => {} };
      }
      const headers = ['authorization', `Bearer ${clusterKey}`];
      for (let i = 0; i < call.headers.length; i += 2) {
        if (call.headers[i] !== 'authorization') headers.push(call.headers[i] as string, call.headers[i + 1] as string);
      }
      return network.send({ ...call, tenant: internalTenant, origin: controlPlaneUrl, headers }, ownErrors(handler));
    },
  };
}

/** Reports an unavailable control plane as an error of the gateway, not of a provider. */
function ownErrors(handler: UpstreamHandler): UpstreamHandler {
  return {
    onHead: (status, headers) => handler.onHead(status, headers),
    onData: (chunk) => handler.onData(chunk),
    onEnd: () => handler.onEnd(),
    onError(error) {
      const isAway = error.code === 'upstream_connect' || error.code === 'upstream_reset';
      handler.onError(isAway ? new GatewayError('unavailable', { cause: error, retryAfterMs: 1000 }) : error);
    },
  };
}
