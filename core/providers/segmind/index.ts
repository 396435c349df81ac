import * as v from 'valibot';
import type { ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import { providerFault } from '../../formats/openai/provider-error.ts';
import { imageGenerate } from './images.ts';

const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({ custom_host: v.nullish(v.string()) });

/** Segmind's image models. See README.md. */
export const segmind: ProviderAdapter = {
  id: 'segmind',
  settings,
  baseUrl: () => 'https://api.segmind.com/v1',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['x-api-key', key.reveal()]),
  operations: { imageGenerate },
  error: providerFault('segmind'),
};
