import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Operation, OperationName, OutgoingCall, ProviderAdapter } from '../../../../core/contract/provider/provider.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { azureAi } from '../../../../core/providers/azure-ai/index.ts';
import { azureOpenAi } from '../../../../core/providers/azure-openai/index.ts';
import { adapters as compatibleRows } from '../../../../core/providers/compatible-rows/index.ts';
import { groq } from '../../../../core/providers/groq/index.ts';
import { providers } from '../../../../core/providers/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { callOf } from '../../providers/contract-suite.ts';
import { noTokens } from '../token-services.ts';

/** OpenAI's path below `/v1` of each operation. */
const files: Partial<Record<OperationName, string>> = {
  uploadFile: '/files',
  listFiles: '/files',
  retrieveFile: '/files/f-1',
  retrieveFileContent: '/files/f-1/content',
  deleteFile: '/files/f-1',
};
const batches: typeof files = {
  createBatch: '/batches',
  listBatches: '/batches',
  retrieveBatch: '/batches/f-1',
  cancelBatch: '/batches/f-1/cancel',
};
const finetunes: typeof files = {
  createFinetune: '/fine_tuning/jobs',
  listFinetunes: '/fine_tuning/jobs',
  retrieveFinetune: '/fine_tuning/jobs/f-1',
  cancelFinetune: '/fine_tuning/jobs/f-1/cancel',
};
const all = { ...files, ...batches, ...finetunes };
const dated = '?api-version=2024-10-21';
const kluster = compatibleRows.find(({ id }) => id === 'kluster-ai') as ProviderAdapter;
const foundry = 'https://contoso.services.ai.azure.com';

/** Provider, settings, the URL before OpenAI's path (host included), and the part after it. */
const rows: readonly [ProviderAdapter, typeof files, JsonObject, string, string][] = [
  [openai, all, {}, 'https://api.openai.com/v1', ''],
  [groq, { ...files, ...batches }, {}, 'https://api.groq.com/openai/v1', ''],
  [kluster, { ...files, ...batches }, {}, 'https://api.kluster.ai/v1', ''],
  [azureOpenAi, all, { azure_resource_name: 'contoso' }, 'https://contoso.openai.azure.com/openai/v1', ''],
  [
    azureOpenAi,
    all,
    { azure_resource_name: 'contoso', azure_deployment_id: 'd', azure_api_version: '2024-10-21' },
    'https://contoso.openai.azure.com/openai',
    dated,
  ],
  [azureAi, all, { azure_foundry_url: foundry }, `${foundry}/openai/v1`, ''],
  [azureAi, all, { azure_foundry_url: `${foundry}/models`, azure_api_version: '2024-05-01-preview' }, `${foundry}/openai/v1`, ''],
  [azureAi, all, { azure_foundry_url: `${foundry}/openai/deployments/d${dated}` }, `${foundry}/openai/v1`, ''],
];

describe.each(rows.map((url) => [url[0].id, url[3], ...url] as const))('stored resources of %s at %s', (_id, _before, ...url) => {
  const [adapter, paths, given, before, behind] = url;
  const settings = v.parse(adapter.settings, given);

  it.each(Object.entries(paths))('are requested at OpenAI’s path for %s', async (name, path) => {
    const operation = adapter.operations[name as OperationName] as Operation;
    const call: OutgoingCall = {
      method: 'GET',
      origin: '',
      path: operation.path({ ...callOf({}, {}, settings), pathParams: { id: 'f-1' } }),
      headers: [],
      body: null,
    };
    await adapter.sign?.(call, settings, {}, noTokens);
    expect(adapter.baseUrl(settings) + call.path).toBe(before + path + behind);
  });

  it('have the output of a batch in its files', () => {
    expect(adapter.operations.getBatchOutput?.steps).toBeTypeOf('function');
  });
});

describe('an Azure endpoint of one model', () => {
  const azure = providers.get('azure-ai') as ProviderAdapter;

  it.each([
    { azure_deployment_type: 'serverless', azure_deployment_name: 'm', azure_region: 'eastus' },
    { azure_foundry_url: 'https://m.eastus.models.ai.azure.com' },
    { azure_foundry_url: 'https://e.eastus.inference.ml.azure.com/score', azure_deployment_type: null },
    { azure_foundry_url: 'https://m.eastus.models.ai.azure.com', provider_auth_type: 'oauthClientCredentials' },
  ])('stores no files, so the service’s own store is used, and has all other operations: %o', (given) => {
    const variant = azure.variant?.(given) as ProviderAdapter;
    const others = Object.keys(azure.operations).filter((name) => !(name in all || name === 'getBatchOutput'));
    expect([variant.id, Object.keys(variant.operations).sort()]).toEqual(['azure-ai', others.sort()]);
    expect(azure.variant?.(given)).toBe(variant);
  });

  it('authenticates by OAuth client credentials if the settings say so', () => {
    const given = { azure_foundry_url: 'https://m.eastus.models.ai.azure.com', provider_auth_type: 'oauthClientCredentials' };
    const headers = azure.variant?.(given)?.headers(given, { api_key: new Secret('of-the-provider') });
    expect(headers?.join()).not.toContain('of-the-provider');
  });

  it('is distinguished from a resource', () => {
    expect(azure.variant?.({ azure_foundry_url: foundry, azure_deployment_type: null })).toBeNull();
  });
});
