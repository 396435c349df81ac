import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { geminiChatExtras } from '../../formats/gemini/chat/chat-extras.ts';
import { googleError } from '../../formats/gemini/errors.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { authHeaders } from './auth.ts';
import { modelList } from './model-list.ts';
import { operations } from './operations.ts';
import { proxyPath, versionedMedia } from './paths.ts';
import { declaration } from './settings.ts';

/** Google's Gemini API, and its translation for OpenAI's text, embedding, image and audio routes. See README.md. */
export const google: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  ...declared(declaration),
  baseUrl: () => 'https://generativelanguage.googleapis.com',
  headers: authHeaders,
  proxyPath,
  adjustProxyCall: (call) => {
    call.path = versionedMedia(call.path);
  },
  models: modelList,
  operations,
  chatExtras: geminiChatExtras,
  error: (status, body, headers) => googleError('google', status, body, headers),
};

export const adapters = [google];
