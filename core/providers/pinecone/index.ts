import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { embed } from './embeddings.ts';
import { modelList } from './model-list.ts';
import { rerank } from './rerank.ts';
import { declaration } from './settings.ts';

/** The version of the API that requests are written for (https://docs.pinecone.io/reference/api/versioning, 2026-11-21). */
const apiVersion = '2026-07';

/** Pinecone's inference and, by pass-through, its indexes. See README.md. */
export const pinecone: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: () => 'https://api.pinecone.io',
  headers: (_settings, { api_key: key }) => [
    ...(key === undefined ? [] : ['api-key', key.reveal()]),
    ...['x-pinecone-api-version', apiVersion],
  ],
  models: modelList,
  operations: { embed, rerank },
  error: providerError('pinecone'),
};

export const adapters = [pinecone];
