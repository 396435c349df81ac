import * as v from 'valibot';
import { azureKeyHeaders, signWithIdentity } from '../../cloud-auth/azure-identity.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { realtimeUsage } from '../../formats/openai/realtime.ts';
import { allBatches, allFiles, allFinetunes, storedOperations } from '../../formats/stored/stored-files.ts';
import { declared, settingsSchema } from '../../provider-settings/declaration.ts';
import { isModelRouter } from '../../provider-settings/price-names.ts';
import { sealedReasoning } from '../../translate/chat-over-responses/chat-over-responses.ts';
import type { ChatExtras } from '../../translate/messages-over-chat/request.ts';
import { addApiVersion, baseUrl, proxyPath, realtimePath } from './address.ts';
import { deploymentProbes } from './deployment-probes.ts';
import { mergeNames } from './merge-names.ts';
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
import { declaration } from './settings.ts';

type AzureAdapter = ProviderAdapter & { readonly chatExtras: ChatExtras };

const adapter: AzureAdapter = {
  ...declared(declaration),
  settings: v.pipe(settingsSchema(declaration), v.transform(mergeNames)),
  baseUrl,
  headers: (given, credentials) => azureKeyHeaders(given, credentials, 'api-key'),
  sign(call, given, credentials, services) {
    addApiVersion(call, given);
    return signWithIdentity('azure-openai', call, given, credentials, services);
  },
  proxyPath,
  modelSources: { headers: ['x-ms-oai-image-generation-deployment'] },
  choosesModel: isModelRouter,
  deploymentProbes,
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
  chatExtras: sealedReasoning(byResponses),
  customTools: true,
  realtime: { path: realtimePath, usage: realtimeUsage },
  error: providerError('azure-openai'),
};

/** OpenAI's models on Azure. See README.md. Files, batches and fine-tuning jobs are OpenAI's, below the resource instead of a deployment. */
export const azureOpenAi: AzureAdapter = {
  ...adapter,
  operations: {
    ...adapter.operations,
    ...storedOperations(adapter, { files: allFiles, batches: allBatches, finetunes: allFinetunes }),
  },
};

export const adapters = [azureOpenAi];
