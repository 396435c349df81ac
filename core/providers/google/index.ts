import type { ProviderAdapter } from '../../contract/provider.ts';
import { geminiChat } from '../shared/gemini/chat-completions.ts';
import { geminiChatExtras } from '../shared/gemini/chat-extras.ts';
import { googleFault } from '../shared/gemini/errors.ts';
import type { ChatExtra } from '../shared/messages-over-chat-request.ts';
import { authHeaders } from './auth.ts';
import { embed } from './embeddings.ts';
import { modelList } from './model-list.ts';
import { modelPath, proxyPath } from './paths.ts';
import { settings } from './settings.ts';

/** Google's Gemini API, with OpenAI-format chat and embeddings answered from it. See README.md. */
export const google: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  id: 'google',
  settings,
  baseUrl: () => 'https://generativelanguage.googleapis.com',
  headers: authHeaders,
  proxyPath,
  models: modelList,
  operations: { chatComplete: geminiChat('google', modelPath, { serviceTier: true }), embed },
  chatExtras: geminiChatExtras,
  error: (status, body, headers) => googleFault('google', status, body, headers),
};
