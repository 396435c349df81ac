import { annotateSources } from '../../formats/cited-sources.ts';
import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { createSpeech, createTranscription } from './audio.ts';
import { imageEdit, imageGenerate } from './images.ts';
import { withoutRefusedEffort } from './reasoning-effort.ts';
import { declaration } from './settings.ts';

const compatible = openAiCompatible({
  declaration,
  baseUrl: 'https://api.x.ai/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse'],
  realtime: true,
  chat: { developerAsSystem: true, ownFinishReasons: true, request: withoutRefusedEffort, reply: annotateSources },
});

/** xAI. See README.md for where it differs from OpenAI. */
export const xAi: CompatibleAdapter = {
  ...compatible,
  operations: { ...compatible.operations, imageGenerate, imageEdit, createSpeech, createTranscription },
};

export const adapters = [xAi];
