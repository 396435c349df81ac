import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { completionsOverChat } from '../../translate/completions-over-chat.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { cancelBatch, createBatch, getBatchOutput, listBatches, retrieveBatch } from './batches.ts';
import { chatComplete } from './chat-completions.ts';
import { embed } from './embeddings.ts';
import { deleteFile, listFiles, retrieveFile, retrieveFileContent, uploadFile } from './files.ts';
import { modelList } from './model-list.ts';
import { rerank } from './rerank.ts';
import { declaration } from './settings.ts';
import { createTranscription } from './transcriptions.ts';

/** Cohere's API, version 2. See README.md. */
export const cohere: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  ...declared(declaration),
  baseUrl: () => 'https://api.cohere.ai',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['authorization', `Bearer ${key.reveal()}`]),
  proxyPath: versionedPath,
  models: modelList,
  operations: {
    chatComplete,
    complete: completionsOverChat(chatComplete, 'cohere'),
    embed,
    rerank,
    createTranscription,
    ...{ uploadFile, listFiles, retrieveFile, retrieveFileContent, deleteFile },
    ...{ createBatch, listBatches, retrieveBatch, getBatchOutput, cancelBatch },
  },
  chatExtras: ['top_k', 'thinking', 'reasoning_content'],
  error: providerError('cohere'),
};

/** Paths without a version get the newest version that has them. */
function versionedPath(path: string): string {
  if (/^\/v\d+\//.test(path)) return path;
  return /^\/(chat|embed|rerank)([/?]|$)/.test(path) ? `/v2${path}` : `/v1${path}`;
}

export const adapters = [cohere];
