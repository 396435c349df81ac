import { annotateSources } from '../../formats/cited-sources.ts';
import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { declaration } from './settings.ts';

/** Perplexity. See README.md for where it differs from OpenAI. */
export const perplexityAi = openAiCompatible({
  declaration,
  baseUrl: 'https://api.perplexity.ai',
  operations: ['chatComplete', 'createModelResponse'],
  chat: {
    renames: { max_completion_tokens: 'max_tokens' },
    developerAsSystem: true,
    streamUsage: 'always',
    ownFinishReasons: true,
    reply: annotateSources,
  },
  chatExtras: ['top_k'],
  // Paths of chat completions have no version, paths of responses have one.
  proxyPath: (path) => (/^\/responses([/?]|$)/.test(path) ? `/v1${path}` : path),
});

export const adapters = [perplexityAi];
