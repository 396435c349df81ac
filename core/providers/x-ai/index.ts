import { openAiCompatible } from '../shared/openai-compatible.ts';

/** xAI. See README.md for where it differs from OpenAI. */
export const xAi = openAiCompatible({
  id: 'x-ai',
  baseUrl: 'https://api.x.ai/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse'],
  realtime: true,
  chat: { developerAsSystem: true, ownFinishReasons: true },
});
