import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { declaration } from './settings.ts';

/** Ollama on a host of the user: `custom_host` is required. */
export const ollama = openAiCompatible({
  declaration,
  baseUrl: null,
  pathPrefix: openAiPrefix,
  operations: ['chatComplete', 'complete', 'embed'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  // Copies and derived models have second names.
  modelSources: {
    hidden: (path) => (makesModel.test(path) ? { param: 'model', remedy: 'make models at the provider itself' } : null),
  },
  proxyPath: (path, settings) => (path.startsWith('/api/') ? path : openAiPrefix(settings ?? {}) + path),
});

const makesModel = /\/api\/(?:copy|create)\/*$/;

/** Users set the plain address or, as for the OpenAI SDK, the address with `/v1`. Both work. */
function openAiPrefix(settings: ProviderSettings): string {
  const host = settings.custom_host;
  return typeof host === 'string' && /\/v1\/*$/.test(host) ? '' : '/v1';
}

export const adapters = [ollama];
