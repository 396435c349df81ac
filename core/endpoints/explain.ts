import type { Endpoint } from '../contract/plugin/context.ts';

/** Explains the route of a request under a config. Calls no provider. */
export const explainEndpoint: Endpoint = {
  name: 'explainConfig',
  operation: null,
  body: 'json',
  scopes: ['completions.write', 'configs.read'],
  format: 'plain',
  proxyPath: '',
};
