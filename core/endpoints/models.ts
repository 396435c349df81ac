import type { Endpoint } from '../contract/plugin/context.ts';

/**
 * The list of models: of the workspace's catalogue, or of the provider that headers or config name. It is shaped, but by no single
 * operation, so it stands beside the table of routes.
 */
export const modelsEndpoint: Endpoint = {
  name: 'listModels',
  operation: null,
  scopes: ['completions.write', 'models.list', 'virtual_keys.list'],
  format: 'plain',
  proxyPath: '/models',
};
