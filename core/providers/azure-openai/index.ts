import type { ProviderAdapter } from '../../contract/provider.ts';
import { azureKeyHeaders, azurePinned, signWithIdentity } from '../shared/azure-identity.ts';
import { sealedThoughts } from '../shared/chat-over-responses/chat-over-responses.ts';
import { allBatches, allFiles, allFinetunes, keptOperations } from '../shared/kept-files.ts';
import type { ChatExtras } from '../shared/messages-over-chat-request.ts';
import { providerFault } from '../shared/provider-fault.ts';
import { realtimeUsage } from '../shared/realtime.ts';
import { addApiVersion, baseUrl, proxyPath, realtimePath } from './address.ts';
import {
  byResponses,
  chatComplete,
  complete,
  createModelResponse,
  createSpeech,
  createTranscription,
  createTranslation,
  embed,
  imageEdit,
  imageGenerate,
} from './operations.ts';
import { settings } from './settings.ts';

const adapter: ProviderAdapter & { readonly chatExtras: ChatExtras } = {
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
  operations: {
    chatComplete,
    complete,
    embed,
    createModelResponse,
    createSpeech,
    createTranscription,
    createTranslation,
    imageGenerate,
    imageEdit,
  },
  chatExtras: sealedThoughts(byResponses),
  realtime: { path: realtimePath, usage: realtimeUsage },
  error: providerFault('azure-openai'),
};

/** OpenAI's models on Azure. See README.md. Files, batches and fine-tuning jobs are OpenAI's, below the resource instead of a deployment. */
export const azureOpenAi: ProviderAdapter & { readonly chatExtras: ChatExtras } = {
  ...adapter,
  operations: {
    ...adapter.operations,
    ...keptOperations(adapter, { files: allFiles, batches: allBatches, finetunes: allFinetunes }),
  },
};
