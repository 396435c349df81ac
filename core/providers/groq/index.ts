import { openAiCompatible } from '../shared/openai-compatible.ts';

/** Groq: fast inference of open models. See README.md for where it differs from OpenAI. */
export const groq = openAiCompatible({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  operations: ['chatComplete', 'createModelResponse', 'createSpeech', 'createTranscription', 'createTranslation'],
  chat: { developerAsSystem: true, ownFinishReasons: true },
});
