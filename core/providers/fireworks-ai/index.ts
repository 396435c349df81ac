import { openAiCompatible } from '../shared/openai-compatible.ts';
import { fireworksImages, fireworksRerank } from './media.ts';

/** Fireworks AI. See README.md for where it differs from OpenAI. */
export const fireworksAi = openAiCompatible({
  id: 'fireworks-ai',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'imageGenerate', 'rerank'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  images: fireworksImages,
  rerank: fireworksRerank,
  chatExtras: ['top_k'],
});
