import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { pathAsModel } from '../../contract/values/addresses/path-as-model.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { imageGenerate } from './images.ts';
import { declaration } from './settings.ts';

/** Segmind's image models. See README.md. */
export const segmind: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: () => 'https://api.segmind.com/v1',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['x-api-key', key.reveal()]),
  modelSources: { inPath: pathAsModel },
  operations: { imageGenerate },
  error: providerError('segmind'),
};

export const adapters = [segmind];
