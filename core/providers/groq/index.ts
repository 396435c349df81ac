import { allBatches, allFiles } from '../shared/kept-files.ts';
import { openAiCompatible } from '../shared/openai-compatible.ts';

/** Groq: fast inference of open models. See README.md for where it differs from OpenAI. */
export const groq = openAiCompatible({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  operations: ['chatComplete', 'createModelResponse', 'createSpeech', 'createTranscription', 'createTranslation'],
  kept: { files: allFiles, batches: allBatches },
  chat: { developerAsSystem: true, ownFinishReasons: true },
});
