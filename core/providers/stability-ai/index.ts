import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { clientHeaders } from './client-headers.ts';
import { errorOf } from './errors.ts';
import { imageEdit, imageGenerate } from './images.ts';
import { modelList } from './model-list.ts';
import { modelInPath } from './models.ts';
import { declaration } from './settings.ts';

/** Stability AI's own API. See README.md. */
export const stabilityAi: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: () => 'https://api.stability.ai',
  headers: (given, { api_key: key }) => [
    ...(key === undefined ? [] : ['authorization', `Bearer ${key.reveal()}`]),
    ...clientHeaders(given),
  ],
  // Paths without a version belong to version 1; newer ones start with `/v2beta`.
  proxyPath: (path) => (/^\/v\d/.test(path) ? path : `/v1${path}`),
  modelSources: { inPath: modelInPath },
  models: modelList,
  operations: { imageGenerate, imageEdit },
  error: errorOf,
};

export const adapters = [stabilityAi];
