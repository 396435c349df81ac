import type { Endpoint } from '../contract/plugin/context.ts';

/** `GET /realtime`: a WebSocket session with a provider's realtime model. */
export const realtimeEndpoint: Endpoint = {
  name: 'realtime',
  operation: null,
  scopes: ['completions.write'],
  format: 'plain',
  proxyPath: '/realtime',
};
