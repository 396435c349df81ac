import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { withLogprobs, withLogprobsCount } from './logprobs.ts';
import { togetherImages, togetherRerank } from './media.ts';
import { declaration } from './settings.ts';

/** Together AI. See README.md for where it differs from OpenAI. */
export const togetherAi = openAiCompatible({
  declaration,
  baseUrl: 'https://api.together.xyz',
  pathPrefix: '/v1',
  operations: [
    'chatComplete',
    'complete',
    'embed',
    'createSpeech',
    'createTranscription',
    'createTranslation',
    'imageGenerate',
    'rerank',
  ],
  chat: {
    renames: { max_completion_tokens: 'max_tokens' },
    developerAsSystem: true,
    ownFinishReasons: true,
    request: withLogprobsCount,
    reply: () => withLogprobs,
  },
  images: togetherImages,
  rerank: togetherRerank,
  chatExtras: ['top_k'],
});

export const adapters = [togetherAi];
