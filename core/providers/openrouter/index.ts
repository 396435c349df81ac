import { openAiCompatible } from '../shared/openai-compatible.ts';

/** OpenRouter. See README.md for where it differs from OpenAI. */
export const openrouter = openAiCompatible({
  id: 'openrouter',
  baseUrl: 'https://openrouter.ai/api',
  pathPrefix: '/v1',
  operations: ['chatComplete', 'createModelResponse'],
  chat: { streamUsage: 'always', ownFinishReasons: true },
  chatExtras: ['cache_control', 'top_k'],
});
