import { isObject } from '../../contract/json.ts';
import type { Operation } from '../../contract/provider.ts';
import { decisions } from '../shared/decisions.ts';
import { unitUsage } from '../shared/media-usage.ts';
import { type CompatibleAdapter, openAiCompatible } from '../shared/openai-compatible.ts';
import { imageEdit, imageGenerate } from './images.ts';

const compatible = openAiCompatible({
  id: 'openrouter',
  baseUrl: 'https://openrouter.ai/api',
  pathPrefix: '/v1',
  operations: ['chatComplete', 'embed', 'createModelResponse', 'createSpeech', 'createTranscription', 'rerank'],
  chat: { streamUsage: 'always', ownFinishReasons: true },
  chatExtras: ['cache_control', 'top_k'],
});

const rerank = compatible.operations.rerank as Operation;

/** OpenRouter. See README.md for where it differs from OpenAI. */
export const openrouter: CompatibleAdapter = {
  ...compatible,
  operations: {
    ...compatible.operations,
    imageGenerate,
    imageEdit,
    createDecision: decisions('openrouter', () => '/alpha/decisions'),
    rerank: {
      ...rerank,
      usage: (reply, call) => {
        const { usage } = reply;
        const units = isObject(usage) ? usage.search_units : undefined;
        return typeof units === 'number' && isObject(usage) ? unitUsage('search_units', units, usage) : rerank.usage(reply, call);
      },
    },
  },
};
