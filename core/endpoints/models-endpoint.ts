import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { splitModelSlug } from '../contract/values/models/model-slug.ts';
import { percentDecoded } from '../contract/values/text/percent-decoded.ts';

/**
 * The endpoint of `GET /models/@<slug>/<model>`, a model of a provider of the workspace, also if its slashes are escaped, as SDKs do
 * it. Null for all other paths: models with plain names are the provider's.
 */
export function catalogueModelEndpoint(method: string, below: string): Endpoint | null {
  if (method !== 'GET' || !below.startsWith('/models/')) return null;
  const model = percentDecoded(below.slice('/models/'.length));
  return splitModelSlug(model) === null ? null : { ...modelsEndpoint, pathParams: { model } };
}

/** The endpoint of `GET /models`. */
export const modelsEndpoint: Endpoint = {
  name: 'listModels',
  operation: null,
  routing: 'optional',
  scopes: ['completions.write', 'models.list', 'virtual_keys.list'],
  format: 'plain',
  proxyPath: '/models',
};
