import type { ProviderAdapter } from '../../contract/provider.ts';
import { authHeaders, completeHeaders } from './auth.ts';
import { chatComplete } from './chat-completions.ts';
import { complete } from './completions.ts';
import { faultOf } from './errors.ts';
import { messages, messagesCountTokens } from './messages.ts';
import { settings } from './settings.ts';

/** Anthropic's Messages API, and OpenAI-format chat and text completions answered from it. See README.md. */
export const anthropic: ProviderAdapter = {
  id: 'anthropic',
  settings,
  baseUrl: () => 'https://api.anthropic.com/v1',
  headers: authHeaders,
  sign: completeHeaders,
  forwards: ['anthropic-beta', 'anthropic-version'],
  // Clients of this provider carry `/v1` in their paths, so a base URL that ends in `/v1` doubles it.
  proxyPath: (path) => path.replace(/^(\/v1)+(?=\/)/, ''),
  operations: { chatComplete, complete, messages, messagesCountTokens },
  error: faultOf,
};
