import type { ProviderAdapter } from '../../contract/provider.ts';
import { azureKeyHeaders, azurePinned, signWithIdentity } from '../shared/azure-identity.ts';
import { providerFault } from '../shared/provider-fault.ts';
import { addApiVersion, baseUrl, proxyPath } from './address.ts';
import { chatComplete, complete, createModelResponse, embed } from './operations.ts';
import { settings } from './settings.ts';

/** OpenAI's models on Azure. See README.md. */
export const azureOpenAi: ProviderAdapter = {
  id: 'azure-openai',
  settings,
  baseUrl,
  pinned: azurePinned,
  headers: (given, credentials) => azureKeyHeaders(given, credentials, 'api-key'),
  sign(call, given, credentials, services) {
    addApiVersion(call, given);
    return signWithIdentity('azure-openai', call, given, credentials, services);
  },
  proxyPath,
  operations: { chatComplete, complete, embed, createModelResponse },
  error: providerFault('azure-openai'),
};
