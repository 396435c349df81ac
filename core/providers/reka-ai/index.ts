import * as v from 'valibot';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { providerFault } from '../../formats/openai/provider-error.ts';
import { chatReply, chatStream, chatStreamReader, usageOf } from './reply.ts';
import { chatRequest } from './request.ts';

/** Reka's chat. See README.md. */
export const rekaAi: ProviderAdapter = {
  id: 'reka-ai',
  settings: v.object({ custom_host: v.optional(v.string()) }) as unknown as ProviderAdapter['settings'],
  baseUrl: () => 'https://api.reka.ai',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['x-api-key', key.reveal()]),
  proxyPath: (path) => (/^\/v\d+\//.test(path) ? path : `/v1${path}`),
  operations: {
    chatComplete: {
      path: () => '/v1/chat',
      toProvider: chatRequest,
      fromProvider: chatReply,
      translateStream: chatStream,
      usage: usageOf,
      streamReader: chatStreamReader,
    },
  },
  error: providerFault('reka-ai'),
};
