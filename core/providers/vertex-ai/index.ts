import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { googleError } from '../../formats/gemini/errors.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtras } from '../../translate/messages-over-chat/request.ts';
import { baseUrl, proxyPath } from './address.ts';
import { authHeaders, sign } from './auth.ts';
import { cancelBatch, createBatch, getBatchOutput, listBatches, retrieveBatch } from './batches.ts';
import { embed } from './embeddings.ts';
import { listFiles, retrieveFile, retrieveFileContent, uploadFile } from './files.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './fine-tuning.ts';
import { createSpeech, createTranscription, createTranslation, imageEdit, imageGenerate } from './media.ts';
import { modelList } from './model-list.ts';
import { chatComplete, chatExtras, messages, messagesCountTokens } from './operations.ts';
import { rerank } from './rerank.ts';
import { declaration } from './settings.ts';

/** Models on Google Cloud's Vertex AI: Gemini, Claude, and open models behind OpenAI's format. See README.md. */
export const vertexAi: ProviderAdapter & { readonly chatExtras: ChatExtras } = {
  ...declared(declaration),
  baseUrl,
  headers: authHeaders,
  sign,
  proxyPath,
  models: modelList,
  operations: {
    chatComplete,
    embed,
    messages,
    messagesCountTokens,
    createSpeech,
    createTranscription,
    createTranslation,
    imageGenerate,
    imageEdit,
    rerank,
    ...{ uploadFile, listFiles, retrieveFile, retrieveFileContent },
    ...{ createBatch, listBatches, retrieveBatch, getBatchOutput, cancelBatch },
    ...{ createFinetune, listFinetunes, retrieveFinetune, cancelFinetune },
  },
  chatExtras,
  error: (status, body, headers) => googleError('vertex-ai', status, body, headers),
};

export const adapters = [vertexAi];
