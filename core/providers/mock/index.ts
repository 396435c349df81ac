import type { Operation, ProviderAdapter } from '../../contract/provider/provider.ts';
import { badParam } from '../../formats/bad-param.ts';
import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { messagesOverChat } from '../../translate/messages-over-chat/messages-over-chat.ts';
import { mockSender } from './in-process.ts';
import { declaration } from './settings.ts';

/** Base URL of calls to this provider, which are handled inside the process. */
export const mockOrigin = 'mock://local';

const compatible = openAiCompatible({
  declaration,
  baseUrl: mockOrigin,
  pathPrefix: '/v1',
  operations: [
    'chatComplete',
    'complete',
    'embed',
    'createSpeech',
    'createTranscription',
    'createTranslation',
    'imageGenerate',
    'moderate',
    'rerank',
  ],
});

const overChat = messagesOverChat(compatible.operations.chatComplete as Operation);

/** The Messages API requires `max_tokens`. The mock rejects a call without it, so that tests detect this error of a client. */
const messages: Operation = {
  ...overChat,
  toProvider(params, call) {
    if (params.max_tokens === undefined)
      throw badParam('max_tokens', 'required by the Messages API; send the largest number of tokens');
    return overChat.toProvider?.(params, call) ?? params;
  },
};

/**
 * The built-in provider for tests and demos: it needs no network and no account. The model name selects its behaviour (see
 * README.md).
 */
export const mock: ProviderAdapter = {
  ...compatible,
  operations: { ...compatible.operations, messages },
  inProcess: { origin: mockOrigin, ...mockSender() },
};

export const adapters = [mock];
