import { openAiCompatible } from '../shared/openai-compatible.ts';

/** Fireworks AI. See README.md for where it differs from OpenAI. */
export const fireworksAi = openAiCompatible({
  id: 'fireworks-ai',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  chatExtras: ['top_k'],
});
