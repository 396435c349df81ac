import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { allBatches, allFiles } from '../../formats/stored/stored-files.ts';
import { withEffortOfModel } from './reasoning-effort.ts';
import { withServiceTier } from './service-tier.ts';
import { declaration } from './settings.ts';

/** Groq: fast inference of open models. See README.md for where it differs from OpenAI. */
export const groq = openAiCompatible({
  declaration,
  baseUrl: 'https://api.groq.com/openai/v1',
  operations: ['chatComplete', 'createModelResponse', 'createSpeech', 'createTranscription', 'createTranslation'],
  stored: { files: allFiles, batches: allBatches },
  chat: {
    messageFields: { accepts: ['reasoning', 'function_call'] },
    lacksAllowedTools: true,
    developerAsSystem: true,
    ownFinishReasons: true,
    request: (params, call) => withEffortOfModel(withServiceTier(params, call), call),
  },
});

export const adapters = [groq];
