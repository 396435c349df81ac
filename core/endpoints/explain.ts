import type { Endpoint } from '../contract/plugin/context.ts';

/** Says where a request would go under a config, and why. No provider is asked. */
export const explainEndpoint: Endpoint = {
  name: 'explainConfig',
  operation: null,
  body: 'json',
  scopes: ['completions.write', 'configs.read'],
  format: 'plain',
  proxyPath: '',
};
