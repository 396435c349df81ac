import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { anthropicChat } from '../../formats/anthropic/chat-completions.ts';
import { anthropicChatExtras } from '../../formats/anthropic/chat-extras.ts';
import { anthropicCompletions } from '../../formats/anthropic/completions.ts';
import { anthropicError } from '../../formats/anthropic/errors.ts';
import { anthropicCountTokens, anthropicMessages } from '../../formats/anthropic/messages.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { authHeaders, completeHeaders } from './auth.ts';
import { cancelBatch, createBatch, getBatchOutput, listBatches, retrieveBatch } from './batches.ts';
import { files } from './files.ts';
import { modelList } from './model-list.ts';
import { declaration } from './settings.ts';

/** Anthropic's Messages API, and its translation for OpenAI-format chat and text completions. See README.md. */
export const anthropic: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  ...declared(declaration),
  baseUrl: () => 'https://api.anthropic.com/v1',
  headers: authHeaders,
  sign: completeHeaders,
  forwards: ['anthropic-beta', 'anthropic-version', 'anthropic-user-profile-id'],
  // Clients of this provider have `/v1` in their paths, so a base URL that ends in `/v1` would double it.
  proxyPath: (path) => path.replace(/^(\/v1)+(?=\/)/, ''),
  models: modelList,
  operations: {
    chatComplete: anthropicChat('anthropic'),
    complete: anthropicCompletions('anthropic'),
    messages: anthropicMessages('anthropic'),
    messagesCountTokens: anthropicCountTokens,
    ...files,
    createBatch,
    listBatches,
    retrieveBatch,
    getBatchOutput,
    cancelBatch,
  },
  chatExtras: anthropicChatExtras,
  error: (status, body, headers) => anthropicError('anthropic', status, body, headers),
};
