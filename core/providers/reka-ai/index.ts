import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { providerError, refuseError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { chatReply, chatStream, chatStreamReader, usageOf } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { declaration } from './settings.ts';

/** Reka's chat. See README.md. */
export const rekaAi: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: () => 'https://api.reka.ai',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['x-api-key', key.reveal()]),
  proxyPath: (path) => (/^\/v\d+\//.test(path) ? path : `/v1${path}`),
  operations: {
    chatComplete: {
      path: () => '/v1/chat',
      toProvider: chatRequest,
      fromProvider: (reply, call) => chatReply(refuseError('reka-ai', reply, 'responses'), call),
      translateStream: chatStream,
      usage: usageOf,
      streamReader: chatStreamReader,
    },
  },
  error: providerError('reka-ai'),
};

export const adapters = [rekaAi];
