import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { accountSettings } from './account.ts';
import { listFiles, retrieveFile, uploadFile } from './files.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './fine-tuning.ts';
import { fireworksImages, fireworksRerank } from './media.ts';

const compatible = openAiCompatible({
  id: 'fireworks-ai',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  operations: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'imageGenerate', 'rerank'],
  settings: accountSettings,
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  images: fireworksImages,
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
