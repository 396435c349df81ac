import { openAiCompatible } from '../shared/openai-compatible.ts';

/** Together AI. See README.md for where it differs from OpenAI. */
export const togetherAi = openAiCompatible({
  id: 'together-ai',
  baseUrl: 'https://api.together.xyz',
  pathPrefix: '/v1',
  operations: ['chatComplete', 'complete', 'embed'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  chatExtras: ['top_k'],
});
