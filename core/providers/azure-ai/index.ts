import { azureKeyHeaders, signWithIdentity } from '../../cloud-auth/azure-identity.ts';
import type { OutgoingCall, ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { realtimeUsage } from '../../formats/openai/realtime.ts';
import { allBatches, allFiles, allFinetunes, storedOperations } from '../../formats/stored/stored-files.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { isModelRouter } from '../../provider-settings/price-names.ts';
import type { ChatExtras } from '../../translate/messages-over-chat/request.ts';
import { addApiVersion, baseUrl, isInferenceApi, isSingleModel, proxyPath, realtimePath, storedPath } from './address.ts';
import { createSpeech, createTranscription, createTranslation, imageEdit, imageGenerate, ocr, rerank } from './media.ts';
import { modelList } from './model-list.ts';
import { chatComplete, chatExtras, complete, embed, messages, messagesCountTokens } from './operations.ts';
import { declaration } from './settings.ts';

type FoundryAdapter = ProviderAdapter & { readonly chatExtras: ChatExtras };

/** The adapter of an endpoint of one model. */
const endpoint: FoundryAdapter = {
  ...declared(declaration),
  baseUrl,
  headers: (given, credentials) => [
    ...azureKeyHeaders(given, credentials, isSingleModel(given) ? 'bearer' : 'api-key'),
    ...endpointHeaders(given),
  ],
  sign(call, given, credentials, services) {
    addApiVersion(call, given);
    if (/\/anthropic\/v1\//.test(call.path)) asAnthropic(call);
    if (/\/providers\//.test(call.path)) asMaker(call);
    return signWithIdentity('azure-ai', call, given, credentials, services);
  },
  forwards: ['anthropic-beta', 'anthropic-version', 'anthropic-user-profile-id'],
  proxyPath,
  modelSources: { headers: ['x-ms-oai-image-generation-deployment', 'azureml-model-deployment'] },
  choosesModel: isModelRouter,
  operations: {
    chatComplete,
    complete,
    embed,
    messages,
    messagesCountTokens,
    createSpeech,
    createTranscription,
    createTranslation,
    imageGenerate,
    imageEdit,
    rerank,
    ocr,
  },
  models: modelList,
  chatExtras,
  customTools: true,
  realtime: { path: realtimePath, usage: realtimeUsage },
  error: providerError('azure-ai'),
};

/**
 * Models of all makers on Microsoft Foundry. See README.md. A resource stores files, batches and fine-tuning jobs in OpenAI's
 * form. An endpoint of one model does not; the gateway's own store replaces it.
 */
export const azureAi: FoundryAdapter = {
  ...endpoint,
  variant: (given) =>
    isSingleModel({ ...given, azure_deployment_type: given.azure_deployment_type ?? undefined }) ? endpoint : null,
  operations: {
    ...endpoint.operations,
    ...storedOperations(endpoint, {
      files: allFiles,
      batches: allBatches,
      finetunes: allFinetunes,
      path: (path, call) => storedPath(call.settings, path),
    }),
  },
};

function endpointHeaders(given: ProviderSettings): HeaderList {
  const headers: HeaderList = [];
  if (isInferenceApi(given)) headers.push('extra-parameters', String(given.azure_extra_parameters ?? 'drop'));
  if (given.azure_deployment_type === 'managed' && typeof given.azure_deployment_name === 'string') {
    headers.push('azureml-model-deployment', given.azure_deployment_name);
  }
  return headers;
}

/** Anthropic's API on Azure expects the key in Anthropic's header, and a version. */
function asAnthropic(call: OutgoingCall): void {
  const at = call.headers.indexOf('api-key');
  if (at !== -1 && at % 2 === 0) call.headers[at] = 'x-api-key';
  if (findHeader(call.headers, 'anthropic-version') === undefined) call.headers.push('anthropic-version', '2023-06-01');
}

/** The APIs of other makers take the same key as bearer token. */
function asMaker(call: OutgoingCall): void {
  const at = call.headers.indexOf('api-key');
  if (at !== -1 && at % 2 === 0) call.headers.splice(at, 2, 'authorization', `Bearer ${call.headers[at + 1]}`);
}

export const adapters = [azureAi];
