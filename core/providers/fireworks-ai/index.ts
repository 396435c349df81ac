import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { listFiles, retrieveFile, uploadFile } from './files.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './fine-tuning.ts';
import { fireworksImages, fireworksRerank, modelOfImagePath } from './media.ts';
import { declaration } from './settings.ts';

const compatible = openAiCompatible({
  declaration,
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'imageGenerate', 'rerank'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  images: fireworksImages,
  modelSources: { inPath: modelOfImagePath },
  rerank: fireworksRerank,
  chatExtras: ['top_k'],
});

/** Fireworks AI. See README.md for where it differs from OpenAI. */
export const fireworksAi: CompatibleAdapter = {
  ...compatible,
  operations: {
    ...compatible.operations,
    uploadFile,
    listFiles,
    retrieveFile,
    createFinetune,
    listFinetunes,
    retrieveFinetune,
    cancelFinetune,
  },
};

export const adapters = [fireworksAi];
